"""Settings of the documentation."""

import os
import sys
from pathlib import Path

import graphfold

sys.path.insert(0, str(Path(__file__).parent))

project = "graphfold"
author = "The graphfold developers"
copyright = "2026, The graphfold developers"
version = release = graphfold.__version__

extensions = [
    "linked_names",
    "myst_parser",
    "numpydoc",
    "sphinx-mathjax-offline",  # formulas are drawn without a connection
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "reproduction/*", "auto_examples/**/*.ipynb"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
# what a class has from str or tuple is not shown as its own
autosummary_context = {"builtin_names": sorted({*dir(str), *dir(tuple)})}
toc_object_entries_show_parents = "hide"  # "fit", not "GraphKernelPCA.fit"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# examples named plot_NN_data_* read real data sets, which no package brings: where they
# are not at hand, those pages show their code alone
REAL_DATA = bool(os.environ.get("GRAPHFOLD_DATA"))

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_" if REAL_DATA else r"/plot_(?!\d\d_data_)",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("graphfold",),
    "reference_url": {"graphfold": None},
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "copyfile_regex": r".*\.rst",
    "remove_config_comments": True,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "graphfold"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["graphfold.css"]
html_show_sourcelink = False
html_domain_indices = False  # one module is indexed: the reference lists all names
html_sidebars = {page: [] for page in ("index", "start", "warnings")}  # nothing below
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "graphfold", "alt_text": "graphfold, start page"},
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
