"""Public names in prose become links to the reference: `GraphKernelPCA(graph=A)`.

Pages stay plain Markdown, which also reads well outside of the site. A name is linked
if the reference has it as it stands or within ``graphfold``, or if one class, function
or warning alone ends in it (``plot.embedding``, ``DriftWarning``).
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

NAME = re.compile(r"(?:graphfold\.)?([A-Za-z]\w*(?:\.\w+)*)(?:\(.*\))?", re.S)
LINKED = ("class", "exception", "function", "method")
NEVER_WITHIN = (nodes.reference, nodes.title, nodes.literal_block)


class LinkedNames(SphinxPostTransform):
    default_priority = 800
    formats = ("html",)

    def run(self, **_):
        found = names_of(self.env.domains["py"].objects)
        for literal in list(self.document.findall(nodes.literal)):
            match = NAME.fullmatch(literal.astext())
            entry = found.get(match[1]) if match else None
            if entry is None or entry.docname == self.env.docname or within(literal):
                continue
            link = make_refnode(
                self.app.builder,
                self.env.docname,
                entry.docname,
                entry.node_id,
                literal.deepcopy(),
            )
            literal.replace_self(link)


def names_of(objects):
    """Entries of the reference by each name that tells them from all others."""
    full = {
        name: entry
        for name, entry in objects.items()
        if entry.objtype in LINKED and not entry.aliased
    }
    ends = {}
    for name, entry in full.items():
        if entry.objtype != "method":
            for end in ends_of(name):
                ends.setdefault(end, set()).add((name, entry))
    alone = {end: entry for end, [(_, entry), *others] in ends.items() if not others}
    inside = {name.removeprefix("graphfold."): entry for name, entry in full.items()}
    return alone | inside


def ends_of(name):
    """``b.C`` and ``C`` of ``graphfold.a.b.C``; functions need more than one word."""
    parts = name.split(".")
    ends = [".".join(parts[start:]) for start in range(1, len(parts))]
    return [end for end in ends if "." in end or end[0].isupper()]


def within(node):
    while node is not None and not isinstance(node, NEVER_WITHIN):
        node = node.parent
    return node is not None


def setup(app):
    app.add_post_transform(LinkedNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
