"""Read a page as the browser does: its description, and its blocks as arrays."""

import base64
import gzip
import json
import re

import numpy as np

META = re.compile(
    r'<script type="application/json" id="meta">(.*?)</script>', re.DOTALL
)
BLOCK = re.compile(
    r'<script type="text/plain" id="block(\d+)">(.*?)</script>', re.DOTALL
)


class Reading:
    """What a page holds."""

    def __init__(self, html):
        self.html = html
        self.meta = json.loads(META.search(html).group(1))
        self._blocks = dict(BLOCK.findall(html))

    def __getitem__(self, name):
        return self.meta[name]

    def block(self, number):
        content = base64.b64decode(self._blocks[str(number)])
        kind = self.meta["blocks"][number]
        if kind["gzip"]:
            content = gzip.decompress(content)
        if kind["type"] == "json":
            return json.loads(content)
        return np.frombuffer(content, dtype=f"<{kind['type']}")

    def column(self, name):
        """A column, and its numbers or class names (None where missing)."""
        found = next(c for c in self.meta["columns"] if c["name"] == name)
        if found["kind"] == "number":
            return found, self.block(found["blocks"][0])
        if found["kind"] == "text":
            return found, self.block(found["block"])
        names = [*found["categories"], None]
        return found, [names[code] for code in self.block(found["block"])]
