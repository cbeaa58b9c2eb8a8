"""Settings of the documentation."""

import graphfold

project = "graphfold"
author = "The graphfold developers"
copyright = "2026, The graphfold developers"
version = release = graphfold.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "reproduction/*"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "graphfold"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
