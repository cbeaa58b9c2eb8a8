"""The built page, filled in: data as blocks that cannot run, and nothing from outside.

``page.html`` is built from ``web/`` (``make web``) and holds the style and the program.
What users give goes into ``<script>`` elements of types that browsers do not run; JSON
has no ``<`` in it, and the program shows text as text. A policy in the page forbids any
other script and any connection.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from importlib.resources import files
from typing import Any

from graphfold.replacing import write_atomically
from graphfold.views.packing import Blocks

_DATA = "<!-- data -->"
_TITLE = "<title>graphfold</title>"
_POLICY = "<!-- policy -->"


class Map:
    """A page with a map and a report; ``view`` makes it.

    In a notebook it shows itself. ``html`` is the page, ``save(path)`` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import view
    >>> page = view(np.random.default_rng(0).random((20, 2)))
    >>> page.n_points, page.html.startswith("<!")
    (20, True)
    """

    def __init__(self, html: str, title: str, n_points: int):
        self.html = html
        self.title = title
        self.n_points = n_points

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        write_atomically(path, lambda stream: stream.write(self.html.encode()))

    def __repr__(self) -> str:
        size = len(self.html) / 1e6
        return f"Map({self.title!r}, {self.n_points} points, {size:.1f} MB of html)"

    def _repr_html_(self) -> str:
        # a frame of its own: neither page can reach into the other
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" '
            f'title="{html.escape(self.title)}" '
            'sandbox="allow-scripts allow-downloads" allow="clipboard-write" '
            'style="width:100%;height:640px;border:0"></iframe>'
        )


def template() -> str:
    """The built page, without data."""
    return (files("graphfold.views") / "page.html").read_text(encoding="utf-8")


def fill(meta: dict[str, Any], blocks: Blocks) -> str:
    """The page with its data."""
    page = template()
    meta = {**meta, "blocks": blocks.types}
    parts = [f'<script type="application/json" id="meta">{_json(meta)}</script>']
    parts += [
        f'<script type="text/plain" id="block{i}">{content}</script>'
        for i, content in enumerate(blocks.encoded)
    ]
    title = html.escape(meta["title"]).encode(errors="replace").decode()
    title = f"<title>{title}</title>"
    page = page.replace(_TITLE, title, 1).replace(_POLICY, _policy(page), 1)
    return page.replace(_DATA, "\n".join(parts), 1)


def _json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False)
    # in ASCII, and no "<" that could end the element
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _policy(page: str) -> str:
    """Only the page's own program may run (it compiles shaders' set-up by eval)."""
    program = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert program is not None
    digest = hashlib.sha256(program.group(1).encode()).digest()
    allowed = base64.b64encode(digest).decode()
    rules = (
        "default-src 'none'; "
        f"script-src 'sha256-{allowed}' 'unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
