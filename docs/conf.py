"""How the documentation is built: `make docs`."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _made import pages

import privmix

pages.write()

project = "privmix"
author = "The privmix developers"
copyright = "2026, The privmix developers"
version = release = privmix.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_made"]
language = "en-GB"

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False

html_theme = "furo"
html_title = f"privmix {version}"


def escape_bars(app, what, name, obj, options, lines):
    """Keep the bar of q(z|y) from being read as a substitution of reStructuredText; leave literals alone."""
    for i, line in enumerate(lines):
        pieces = re.split(r"(``.*?``)", line)
        lines[i] = "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in pieces)


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars)
