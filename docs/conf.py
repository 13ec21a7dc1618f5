"""Build the site with Sphinx from the pages of docs/, benchmarks/ and the top folder: `make docs`.

The source folder is the top of the repository, so that links between pages, and to source files,
are the same on the site and in the repository.
"""

import sentprobe

project = "sentprobe"
author = "The sentprobe developers"
version = release = sentprobe.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    *("docs/*.md", "docs/decisions/*.md", "benchmarks/*.md", "examples/README.md"),
    *("CHANGELOG.md", "CONTRIBUTING.md"),
]
exclude_patterns = [".*", "demo", "dist", "sentprobe", "site", "tests"]

myst_heading_anchors = 4
smartquotes = False  # readers copy text from the pages

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True}
maximum_signature_line_length = 80
autodoc_typehints_format = "short"
add_module_names = False
python_use_unqualified_type_names = True

# `make docs-links` needs the network; the tests check only the form of the links.
linkcheck_timeout = 30
linkcheck_retries = 2
linkcheck_anchors = False  # many sites make theirs by scripts

html_theme = "pydata_sphinx_theme"
html_title = "sentprobe"
html_extra_path = ["index.html"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = "docs/_static/search_scores.js"
templates_path = ["_templates"]
html_sidebars = {"**": ["site-nav"]}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_center": [],
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "docs/index": []},
}
