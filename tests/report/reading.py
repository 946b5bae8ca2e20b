"""Reading a page: its tree, an element of it, and its words."""

import html5lib


def parsed(text):
    """Return the tree of a page, or fail at the first violation of the standard."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)


def find(tree, name):
    return next(element for element in tree.iter() if element.get("id") == name)


def words(element):
    return " ".join("".join(element.itertext()).split())
