"""How Sphinx makes the site from the pages of docs/, benchmarks/ and the top folder: `make docs`.

The source folder is the top of the repository, so that a link from one page to another, or to a
source file, is the same on the site as where the files are read.
"""

import sentprobe

project = "sentprobe"
author = "The sentprobe developers"
version = release = sentprobe.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    *("docs/*.md", "benchmarks/*.md", "examples/README.md"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
]
exclude_patterns = [".*", "demo", "dist", "sentprobe", "site", "tests"]

myst_heading_anchors = 4
smartquotes = False  # what stands in a page is what a reader copies

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True}
maximum_signature_line_length = 80
autodoc_typehints_format = "short"
add_module_names = False
python_use_unqualified_type_names = True

# `make docs-links`, which needs the network; the tests look at the form of the links alone.
linkcheck_timeout = 30
linkcheck_retries = 2
linkcheck_anchors = False  # many sites make theirs by scripts

html_theme = "pydata_sphinx_theme"
html_title = "sentprobe"
html_extra_path = ["index.html"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
