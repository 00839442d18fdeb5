"""asv.conf.json as far as pages need it: the project's name, and where its code is shown.

The file is JSON with comments, and a stranger's: unknown keys are ignored, and what is not a short
text counts as absent.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from observatory.store.base.problems import RecordError

NAME = "asv.conf.json"
_LARGEST = 2**20
_LONGEST = 500
_TOKENS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
"""Texts, which stay, and what JSON does not allow: comments, and commas before a bracket."""


@dataclass(frozen=True)
class AsvConfig:
    """What an asv.conf.json says of a project; empty where it says nothing."""

    project: str = ""
    project_url: str = ""
    repo: str = ""
    show_commit_url: str = ""


def load(path: Path) -> AsvConfig:
    """Read an asv.conf.json. Raises RecordError if it cannot be read."""
    try:
        if path.stat().st_size > _LARGEST:
            raise RecordError(f"{path} is larger than {_LARGEST:,} bytes: it is no asv.conf.json")
        text = path.read_text("utf-8")
        # Twice: a comment may stand between a comma and its bracket.
        for _ in range(2):
            text = _TOKENS.sub(lambda found: found[1] or "", text)
        read = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path} cannot be read as asv.conf.json: {error}") from error
    if not isinstance(read, dict):
        raise RecordError(f"{path} is no asv.conf.json: it is not an object")
    found = {name: read.get(name) for name in AsvConfig.__dataclass_fields__}
    return AsvConfig(**{
        name: value for name, value in found.items()
        if isinstance(value, str) and len(value) <= _LONGEST
    })  # fmt: skip


def beside(results: Path) -> Path | None:
    """The asv.conf.json of a results directory: in it, or in the one above; None without one."""
    places = (results / NAME, results.absolute().parent / NAME)
    return next((place for place in places if place.is_file()), None)
