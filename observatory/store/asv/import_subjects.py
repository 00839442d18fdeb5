"""What a file of pytest-benchmark was measured of: a commit, or a release by its name. Pure.

asv knows only commits. A release that was installed from an index has none: the name of the release
stands where asv has the hash, and the observatory reads it as the subject.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from observatory.store.base.problems import RecordUsageError
from observatory.store.base.releases import WRITTEN
from observatory.store.records.layout import checked_name

if TYPE_CHECKING:
    from observatory.store.asv.pytest_benchmark import Saved

_COMMIT = re.compile(r"[0-9a-f]{8,64}")
_WHOLE = re.compile(rf"v?({WRITTEN})")
_WITHIN = re.compile(rf"(?<![\d.]){WRITTEN}(?![\w.]|-\d)")
_COUNTER = re.compile(r"^\d{4}_")
"""With `--benchmark-save NAME` the file is called 0001_NAME.json."""
_LONGEST = 60
_SHORT = 8


def subject_of(saved: Saved, stem: str, commit: str | None, subject: str | None) -> str:
    """The hash or the name of what was measured: as given, else of the file, else of its name.

    ``stem``: the file's name without its ending. Raises RecordUsageError if nothing says it.
    """
    if commit is not None and subject is not None:
        raise RecordUsageError("--commit and --subject both name what was measured; give one")
    if commit is not None:
        if not _COMMIT.fullmatch(commit.lower()):
            raise RecordUsageError(
                f"{commit!r} is not the hash of a commit: 8 to 64 hexadecimal digits; a release is "
                "named by --subject"
            )
        return commit.lower()
    if subject is not None:
        if len(subject) > _LONGEST:
            raise RecordUsageError(f"the subject is longer than {_LONGEST} characters")
        return checked_name(subject, "subject")
    told = _WHOLE.fullmatch(saved.commit_name)
    found = saved.commit or (told[1] if told else _of_name(stem))
    if found is None:
        raise RecordUsageError(
            "it does not say which commit was measured (commit_info.id); give --commit HASH or "
            "--subject NAME, or put the release into the file's name, as in 3.3.7.json"
        )
    return found


def _of_name(stem: str) -> str | None:
    """The only release in the name of a file."""
    found = set(_WITHIN.findall(_COUNTER.sub("", stem)))
    return found.pop() if len(found) == 1 else None


def is_commit(subject: str) -> bool:
    """Whether a subject is the hash of a commit rather than a name."""
    return _COMMIT.fullmatch(subject) is not None


def short(subject: str) -> str:
    """What stands for a subject in labels and names of files: asv's eight digits, or the name.

    >>> short("0123456789abcdef"), short("2026.11.25")
    ('01234567', '2026.11.25')
    """
    return subject[:_SHORT] if is_commit(subject) else subject
