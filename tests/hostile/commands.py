"""Command lines of every command, made from what the commands themselves declare.

They run in this process, in a directory with a few results, and `contained`: nothing is measured,
nobody is asked, and nothing outside of the directory changes. Interpreters of Python are found, but
none can be started.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NoReturn, get_args, get_type_hints
from unittest import mock

from typer.main import get_command

from observatory.cli import main
from observatory.cli.main import app
from observatory.errors import Exit
from observatory.run import interpreters, nightly
from observatory.run.interpreters import Interpreter
from observatory.text.plain import for_log
from tests import factories, factories_comparison
from tests.command import observatory
from tests.hostile.contained import contained
from tests.hostile.mutations import VALUES
from tests.hostile.surface import Surface

_LONGEST = 120
"""Seconds that a command may take."""
_NUMBERS = ("0", "-1", "1", "2", "0.5", "1e308", "-1e-320", "nan", "inf", "-inf", "9" * 400,
            str(2**31), str(2**63), "1_000", " 1 ", "0x10")  # fmt: skip
_PATHS = (".", "results", "x.json", "missing", "missing/there", "x.json/under", "empty", "loop",
          "dangling", "cache", "results/benchmarks.json", "", "/dev/full", "a" * 300,
          "~", "-", "--", "é\ud800", "a b", "$HOME")  # fmt: skip
_WORDS = ("3.3.7", "3.3.6", "3.3.7 numba==0.68.0", "radon", "*", "[", "", "a/b", "12", "2w", "90s",
          "1/2", "local:2", "https://example.org/a", "memory://fuzz/x", "newest")  # fmt: skip
_HOSTILE = tuple(str(one) for one in VALUES if isinstance(one, str) and "\0" not in one)
_SAID = re.compile(r"[\w*./:=+-]*\w[\w*./:=+-]*")
_TOLD = frozenset({
    Exit.USAGE, Exit.ENVIRONMENT, Exit.UNREADABLE, Exit.ARTIFACT, Exit.GITHUB, Exit.UNPUBLISHED
})  # fmt: skip
"""The exit statuses of errors, of which a sentence on stderr says what is wrong."""

_NIGHTS = ("nightly", "tomorrow")
"""They end with the status of a step, which has told it, and show all of them in a table."""


@dataclass(frozen=True)
class _Parameter:
    """An argument (without names) or an option, and values that it could be meant for."""

    names: tuple[str, ...]
    is_flag: bool
    required: bool
    most: int
    values: tuple[str, ...]


@cache
def declared() -> dict[tuple[str, ...], tuple[_Parameter, ...]]:
    """The parameters of every command, by the words that name the command."""
    return {path: tuple(_parameters(one)) for path, one in _commands(get_command(app))}


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _parameters(command: Any) -> Iterator[_Parameter]:
    hints = get_type_hints(inspect.unwrap(command.callback))
    for one in command.params:
        kinds = {*_kinds(hints[one.name])}
        values = [*_SAID.findall(one.help or ""), str(one.default)]
        values += _PATHS if Path in kinds else ()
        values += _NUMBERS if kinds & {int, float} else ()
        values += _WORDS if str in kinds else ()
        is_argument = one.param_type_name == "argument"
        yield _Parameter(
            () if is_argument else (*one.opts, *one.secondary_opts),
            bool(getattr(one, "is_flag", False)), one.required,
            3 if one.nargs == -1 or getattr(one, "multiple", False) else 1, tuple(values),
        )  # fmt: skip


def _kinds(hint: Any) -> Iterator[Any]:
    """The types that a type is made of: of ``list[str] | None`` str, list and None."""
    yield hint
    for part in get_args(hint):
        yield from _kinds(part)


def made(dice: Random) -> bytes:
    """A line of a random command, whose values are such as the command asks for, or hostile."""
    path = dice.choice(sorted(declared()))
    return _line(path, dice, often=dice.choice((0.05, 0.2, 0.5)), hostile=dice.choice((0.0, 0.3)))


def _line(path: tuple[str, ...], dice: Random, often: float, hostile: float) -> bytes:
    words = [*path]
    for one in declared()[path]:
        if not one.required and dice.random() > often:
            continue
        for _ in range(dice.randint(1, one.most)):
            words += [dice.choice(one.names)] if one.names else []
            if not one.is_flag:
                words.append(dice.choice(_HOSTILE if dice.random() < hostile else one.values))
    return "\0".join(words).encode(errors="surrogateescape" if _encodes(words) else "replace")


def _encodes(words: list[str]) -> bool:
    try:
        "".join(words).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _seeds() -> list[bytes]:
    """A plain line of each command: what it imports then is no content's."""
    return [_line(path, Random(str(path)), often=0, hostile=0) for path in sorted(declared())]


def _fill(work: Path) -> None:
    """Put a few results into a directory, and whatever else a path could lead to."""
    factories.journal(work / "results", [factories.sample()])
    comparison = factories_comparison.SCENES["slower"]()
    (work / "x.json").write_text(comparison.model_dump_json(by_alias=True), encoding="utf-8")
    (work / "empty").mkdir()
    (work / "cache").mkdir()
    (work / "loop").symlink_to("loop")
    (work / "dangling").symlink_to("missing")


def _command(content: bytes, work: Path) -> None:
    """Run a command as a user does.

    Its exit status is one that is documented, an error is told, and nothing that it prints is a
    command of a runner.
    """
    words = content[:100_000].decode(errors="surrogateescape").split("\0")
    _fill(work)
    # As on a terminal, which is not guarded: what is printed is clean where it is made.
    unguarded = mock.patch.object(main, "guarded", nullcontext)
    with chdir(work), contained(work), _machine(), _ends(), unguarded:
        done = observatory(*words)
    assert done.returncode in set(Exit) - {Exit.UNEXPECTED}, (done.returncode, done.stderr)
    if done.returncode in _TOLD and words[0] not in _NIGHTS:
        assert done.stderr.strip(), done
    said = done.stdout + done.stderr
    assert for_log(said) == said, said


@contextmanager
def _machine() -> Iterator[None]:
    """A machine with interpreters of Python, and a token."""
    with (
        mock.patch.object(nightly, "PROGRAM", (sys.executable, "-P")),
        mock.patch.object(interpreters, "_ask", lambda path: Interpreter(path, "3.13.1")),
        mock.patch.dict(os.environ, {"GITHUB_TOKEN": "fuzz", "GITHUB_REPOSITORY": "a/b"}),
    ):
        yield


@contextmanager
def _ends() -> Iterator[None]:
    """Raise AssertionError in the block if it takes too long."""

    def over(number: int, frame: FrameType | None) -> NoReturn:
        raise AssertionError(f"the command did not end within {_LONGEST} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(_LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


SURFACE = Surface(_seeds, _command, made)
