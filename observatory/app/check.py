"""Check the environment of a user, and a copy of their cache, as upgrades and the canary do."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from observatory.app.measurement import CANARY_STATUS, chosen_tasks
from observatory.app.progress import Progress, Update, doing, failure_of, silent
from observatory.benchmarks.flags import flag
from observatory.benchmarks.messages import FILLER_FILE
from observatory.benchmarks.plan import Task
from observatory.errors import Exit, severest
from observatory.guard.caches.opening import unnoticed
from observatory.guard.verdicts import Finding, judge, part, worst
from observatory.run.environments import Environment, importable, versions_of
from observatory.run.execute import Executor
from observatory.run.filled import filled_caches
from observatory.run.local import hidden_from_git, measuring_lock
from observatory.run.presets import Narrowed
from observatory.run.readers import TARGET
from observatory.run.sources import SubjectError
from observatory.run.upgrade import cells_of
from observatory.store.base.problems import RecordUsageError
from observatory.store.records.passport import NAME, Passport
from observatory.store.records.sample import Sample
from observatory.store.records.upgrades import Part
from observatory.text.units import seconds
from observatory.text.words import several

_OWN = "own"
_NOT_COPIED = ("lock_dir", "*.tmp.*", NAME)


@dataclass(frozen=True)
class Checked:
    """What a check found: graphs built on the copy, and siblings that share it."""

    parts: tuple[Part, ...]
    findings: tuple[Finding, ...]

    @property
    def status(self) -> Exit:
        """The exit status; wrong numbers come first."""
        if not self.parts and not self.findings:
            return Exit.UNDECIDED
        found = [CANARY_STATUS[worst(self.findings)]] if self.findings else []
        found += [Exit.WRONG_RESULTS for each in self.parts if each.changed]
        found += [Exit.SAMPLE_FAILED for each in self.parts if each.failure]
        return Exit(severest(found))


def check(
    here: Passport,
    python: Path,
    cache: Path | None,
    state: Path,
    timeout: float,
    models: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Checked:
    """Measure the environment of a Python with a copy of a cache; neither is changed.

    ``here``: what that environment is. ``cache``: its base_compiledir; None: an empty one.
    ``timeout``: seconds for each process. ``models``: build only these, and no siblings. Raises
    SubjectError for an unknown model, EnvironmentMakingError and OSError.
    """
    if unknown := Narrowed(models).unknown():
        raise SubjectError(unknown)
    # A link into a virtual environment must stay what it is.
    package = importable(hidden_from_git(state) / "envs")
    environment = Environment(python.absolute(), versions_of(python, str(python)), "own", package)
    of_numba = {name: text for name, text in here.settings.items() if name.startswith("NUMBA_")}
    flags = [flag(name, text) for name, text in here.settings.items() if name not in of_numba]
    target = {name: os.environ[name] for name in TARGET if name in os.environ}
    backends = [*(["NUMBA"] if here.numba else []), *(["C"] if here.compiler else [])]
    with filled_caches(state, "check") as caches:
        _copy(cache, caches / _OWN, progress)
        executor = Executor(
            environment, caches, timeout,
            flags=",".join(flags) or None, variables=of_numba | target,
        )  # fmt: skip
        cells = [one for one in cells_of(None, backends) if not models or one.model in models]
        tasks = [Task(cell, "counting", 0, _OWN) for cell in cells]
        siblings = []
        if here.numba and not models:
            siblings = [replace(one, cache=_OWN) for one in chosen_tasks("canary", Narrowed())]
        with measuring_lock(lambda text: progress(Update(text))):
            taken = list(_taken(executor, [*tasks, *siblings], progress))
    used = {sample.cell: sample for sample in taken[: len(tasks)]}
    return Checked(
        tuple(part(cell, sample, sample, None) for cell, sample in used.items()),
        tuple(judge(sample) for sample in taken[len(tasks) :]),
    )


def _taken(executor: Executor, tasks: list[Task], progress: Progress) -> Iterator[Sample]:
    for number, task in enumerate(tasks):
        progress(Update(str(task.cell), "activity", number, len(tasks)))
        begin = time.monotonic()
        sample = executor.run(task)
        failure, done = failure_of(sample), number + 1
        text = failure or f"[{done}/{len(tasks)}] {seconds(time.monotonic() - begin)}"
        text = f"{task.cell} {text}"
        progress(Update(text, "error" if failure else "sample", done, len(tasks)))
        yield sample
    progress(Update("", "activity"))


def _copied(source: str, target: str) -> bool:
    """Copy a file. False: it cannot be read, or PyTensor has just deleted it."""
    try:
        if not Path(source).is_file():
            return True  # a pipe, for one, is no part of a cache
        with unnoticed(source) as content, Path(target).open("wb") as copy:
            shutil.copyfileobj(content, copy)
        shutil.copystat(source, target)
    except (PermissionError, FileNotFoundError):
        Path(target).unlink(missing_ok=True)
        return False
    return True


def _left_out(directory: str, names: list[str]) -> set[str]:
    """What of a directory of a cache is not copied."""
    found = set(shutil.ignore_patterns(*_NOT_COPIED)(directory, names))
    here = Path(directory).resolve()
    for name in names:
        path = Path(directory, name)
        if path.is_dir() and (not os.access(path, os.R_OK | os.X_OK) or _leads_up(path, here)):
            found.add(name)
    return found


def _leads_up(path: Path, here: Path) -> bool:
    """Whether a directory is a link to one that it is in: to copy it would never end."""
    return path.is_symlink() and here.is_relative_to(path.resolve())


def _copy(cache: Path | None, own: Path, progress: Progress) -> None:
    """Make a filled cache that has a copy of the user's, or an empty one."""
    (own / "numba").mkdir(parents=True)
    if cache is None:
        (own / "pytensor").mkdir()
    else:
        lost: list[str] = []

        def copy(source: str, target: str) -> None:
            if not _copied(source, target):
                lost.append(source)

        with doing(progress, f"copying {cache}"):
            # A link that stayed one would let the check write into the user's cache.
            try:
                shutil.copytree(
                    cache, own / "pytensor", ignore=_left_out, copy_function=copy,
                    ignore_dangling_symlinks=True,
                )  # fmt: skip
            except shutil.Error as error:
                first = error.args[0][0]
                raise RecordUsageError(f"{first[0]} cannot be copied: {first[2]}") from error
        if lost:
            text = f"{several(len(lost), 'file')} of {cache} cannot be read, e.g. {lost[0]}"
            progress(Update(text, "warning"))
    filler = {"hash_seed": secrets.randbelow(2**32 - 1) + 1}
    (own / FILLER_FILE).write_text(json.dumps(filler), encoding="utf-8")
