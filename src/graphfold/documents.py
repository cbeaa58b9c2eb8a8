"""JSON of strangers: how long and how deep it may be, and one sentence if it is not."""

from __future__ import annotations

import json
from typing import Any

#: bytes; each may become twenty in memory
LONGEST = 2**26


def parsed(content: bytes) -> Any:
    """What JSON means; a ``ValueError`` with a reason if it is none.

    Numbers may be NaN and infinite, as Python writes them.
    """
    if len(content) > LONGEST:
        raise ValueError(f"its JSON has {len(content)} bytes; {LONGEST} are allowed")
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"its JSON must be text in UTF-8; byte {error.start} is not"
        ) from None
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
