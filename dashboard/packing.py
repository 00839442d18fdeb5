"""Scripts and stylesheets as pages load them: without comments, and those of one page as one file.

A page waits for each file, and for each of its bytes. Nothing is renamed or rewritten, so that what
a browser shows of an error is what lies in ``dashboard/assets``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

BUNDLES = {
    "assets/charts.js": (
        "series-axes", "series-marks", "series-hand", "series-chart", "series-layout",
        "series-words", "series",
    ),
}  # fmt: skip
"""By path, the scripts that are loaded as one file, in this order."""
_COMMENT = {
    ".js": re.compile(rb"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)$", re.DOTALL | re.MULTILINE),
    ".css": re.compile(rb"/\*.*?\*/", re.DOTALL),
}
"""A script's comments are left out where they have lines of their own: others may be in texts."""

_AIR = re.compile(rb"\s*([{}])\s*|(?<=;)\n|(?<=;) (?=[\w-]+:)|(?<=[:,])[ ](?=[^ \"])")
"""What a stylesheet does not need: no text in ours has these signs beside a space."""


def lean(path: str, content: bytes) -> bytes:
    """A script or stylesheet without comments, indentation and empty lines; else as it is.

    Scripts must have no text of several lines: a test of all assets says so.
    """
    comment = next((one for end, one in _COMMENT.items() if path.endswith(end)), None)
    if comment is None:
        return content
    lines = (line.strip() for line in comment.sub(b"", content).splitlines())
    short = b"\n".join(line for line in lines if line) + b"\n"
    return _AIR.sub(rb"\1", short) if path.endswith(".css") else short


def bundled(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with bundles in place of their parts. Raises KeyError if a part is missing."""
    parts = {path: [f"assets/{name}.js" for name in names] for path, names in BUNDLES.items()}
    gone = {name for names in parts.values() for name in names}
    kept = {path: content for path, content in files.items() if path not in gone}
    return kept | {path: b"".join(files[one] for one in names) for path, names in parts.items()}
