"""JSON of strangers: how long and how deep it may be, and one sentence if it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: bytes; each may become twenty in memory
LONGEST = 2**26


def read(path: Path) -> Any:
    """What a file of JSON means; one that is too long is not read."""
    _check_length(path.stat().st_size)
    return parsed(path.read_bytes())


def parsed(content: bytes) -> Any:
    """What JSON means; a ``ValueError`` with a reason if it is none.

    Numbers may be NaN and infinite, as Python writes them.
    """
    _check_length(len(content))
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"its JSON must be text in UTF-8; byte {error.start} is not"
        ) from None
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def _check_length(length: int) -> None:
    if length > LONGEST:
        raise ValueError(f"its JSON has {length} bytes; {LONGEST} are allowed")
