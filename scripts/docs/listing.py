"""The page scripts/README.md: what each script does, from the first line of its docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from scripts.docs.markdown import cell, code, table, wrapped

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
_HOW = (
    "Scripts in this directory are started by path or as a module, those below it as a module: "
    "`.venv/bin/python -m scripts.faults.kit --help`. What they measure for the documentation "
    "lies in `results/tables/`, and `scripts/reference.py` makes tables of it."
)


def listing(scripts: Path = SCRIPTS) -> Iterator[str]:
    """Yield the blocks of the page. Raises ValueError for a script that does not say what it is."""
    yield "What Make, workflows and people call:"
    yield _table(scripts)
    yield wrapped(_HOW)
    for package in sorted(path.parent for path in scripts.rglob("__init__.py")):
        yield f"## {package.relative_to(scripts)}"
        yield sentence(package / "__init__.py")
        yield _table(package)


def _table(directory: Path) -> str:
    scripts = sorted(one for one in directory.iterdir() if one.suffix in (".py", ".sh"))
    rows = ((code(one.name), cell(sentence(one))) for one in scripts if one.stem != "__init__")
    return table(("script", "what it does"), rows)


def sentence(script: Path) -> str:
    """The first line of a docstring, or the first comment of a script for the shell.

    Raises ValueError if there is none.
    """
    text = script.read_text()
    if script.suffix == ".py":
        said = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    else:
        said = next((line for line in text.splitlines() if line.startswith("# ")), "")[2:]
    if not said.endswith("."):
        raise ValueError(f"{script} does not begin with a sentence on one line: {said!r}")
    return said
