"""The page: one HTML file that needs nothing else, no network and no server.

What models and environments said is data. It is embedded as JSON that cannot end its element, and
the scripts put it into the page as text only. A content security policy allows the page's own
style and script, by hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

from trajevolve.files import write_atomically

SCRIPTS = (
    "elements.js",
    "model.js",
    "comparison.js",
    "list.js",
    "overview.js",
    "detail.js",
    "viewer.js",
)

# JSON inside a script element: nothing in it may look like markup, or end the element.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def write_page(path: Path, document: dict[str, Any]) -> int:
    """Write the page that shows `document` and return its size in bytes.

    Raises:
        UserError: `path` cannot be written.
        ValueError: the document holds NaN or infinity.
    """
    page = render(document).encode()
    write_atomically(path, lambda partial: partial.write_bytes(page))
    return len(page)


def render(document: dict[str, Any]) -> str:
    """Make the text of the page."""
    style = _asset("style.css")
    script = '"use strict";\n' + "\n".join(map(_asset, SCRIPTS))
    page = _asset("page.html")
    for name, text in {
        "style-hash": _hash(style),
        "script-hash": _hash(script),
        "style": style,
        "script": script,
        "document": embedded(document),  # the last, so that nothing in it is taken for a name
    }.items():
        page = page.replace("{{" + name + "}}", text, 1)
    return page


def embedded(document: dict[str, Any]) -> str:
    """Write `document` as JSON that is safe inside a script element.

    Non-ASCII characters are escaped, among them U+2028 and lone surrogates, which are no UTF-8.
    """
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
