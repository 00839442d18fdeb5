"""The command line: raise the upper bound of numba in one pyproject.toml."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from packaging.version import InvalidVersion, Version

from observatory.numba_bound import judges, wording
from observatory.numba_bound.judges import Bench, Finding, Judged, Runner
from observatory.numba_bound.pins import Project, read
from observatory.numba_bound.plan import Change, exclusions, main_bounds, plan, write
from observatory.numba_bound.releases import Channel, Index, Target, choose
from observatory.numba_bound.status import BoundError, Status, UnsafeError
from observatory.run.uv import RealUv, Uv
from observatory.store.base.decode import MOST_TOML
from observatory.store.base.files import write_atomic
from observatory.text.words import several

_ABOUT = """\
Raise the upper bound of numba in a pyproject.toml to the newest numba.

Every pin of numba becomes "numba>=X.Y,<=A.B.C". The lower bound, exclusions, extras
and markers stay; the upper bound becomes the newest release. The rest of the file
stays byte for byte. A bound is never lowered.

  python -m observatory.numba_bound             rewrite ./pyproject.toml
  python -m observatory.numba_bound --check     write nothing, print what is due
  python -m observatory.numba_bound --judge --pull-request text.md
                                                measure first, write down the verdict
"""
_OBSERVATORY = (sys.executable, "-m", "observatory")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP arrived: the running judge has to end too."""


def main(
    argv: Sequence[str] | None = None, uv: Uv | None = None, runner: Runner = judges.run
) -> Status:
    """Run the command line; every expected error is printed as a sentence and has a status."""
    options = _options(argv)
    path: Path = options.pyproject
    before = {number: signal.signal(number, _interrupt) for number in _SIGNALS}
    try:
        return _raise_bound(path, options, uv or RealUv(), runner)
    except UnsafeError as error:
        problem, status = f"{path}: {error}", error.status
    except BoundError as error:
        problem, status = str(error), error.status
    except OSError as error:
        where = error.filename or path
        problem, status = f"{where}: {error.strerror or error}", Status.NOT_SAFE
    except _Interrupted:
        problem, status = "interrupted", Status.INTERRUPTED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    print(f"error: {problem}; nothing was rewritten", file=sys.stderr)
    return status


def _raise_bound(path: Path, options: argparse.Namespace, uv: Uv, runner: Runner) -> Status:
    if not path.is_file():
        raise UnsafeError("there is no such file; name a pyproject.toml")
    with path.open("rb") as stream:
        content = stream.read(MOST_TOML + 1)
    project = read(content)
    if not project.pins:
        clauses = ["no list of requirements in it names numba"]
        if project.elsewhere:
            clauses.append(wording.not_rewritten(project))
        if project.dynamic:
            clauses.append("its dependencies are dynamic, so another file declares them")
        print(f"error: {path}: {'; '.join(clauses)}", file=sys.stderr)
        return Status.NO_PIN
    index = Index(project.requires_python, uv)
    target = choose(index, exclusions(project), options.to, options.conda)
    older = target.end < target.newest
    due = plan(
        project, target.end, lambda bounds: index.within(bounds) if older else None, options.lower
    )
    after = due.content()
    print(*wording.report(due, target.source), sep="\n")
    pins = several(len(due.rewritten), "pin")
    if not due.rewritten:
        asks = options.judge or options.pull_request is not None
        print(f"{path}: nothing to rewrite" + (", nothing to propose" if asks else ""))
        return Status.LEFT if due.having(Change.LEFT) else Status.DONE
    if options.check:
        print(f"{path}: {pins} would be rewritten")
        return Status.DUE
    judged = _judged(project, index, target, options, runner) if options.judge else None
    if options.pull_request is not None:
        text = wording.pull_request(due, target.source, judged)
        write_atomic(options.pull_request, text.encode())
    write(path, content, after)
    print(f"{path}: {pins} rewritten")
    if judged is None or judged.finding is Finding.GOOD:
        return Status.DONE
    return Status.DO_NOT_MERGE if judged.finding is Finding.BAD else Status.NOT_JUDGED


def _judged(
    project: Project, index: Index, target: Target, options: argparse.Namespace, runner: Runner
) -> Judged:
    old = index.within(main_bounds(project))
    tool = (options.observatory,) if options.observatory else _OBSERVATORY
    bench = Bench(options.subject or "newest", tool, runner, options.judge_minutes * 60)
    judged = bench.judge(target.end, old)
    print(*judged.verdicts, sep="\n")
    return judged


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _Interrupted


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    statuses = "\n".join(f"  {status.value:>3}  {status.meaning}" for status in Status)
    parser = argparse.ArgumentParser(
        prog="python -m observatory.numba_bound",
        description=_ABOUT,
        epilog=f"exit status:\n{statuses}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("pyproject", nargs="?", type=Path, default=Path("pyproject.toml"), metavar="PYPROJECT",
        help="the file; default: pyproject.toml here")  # fmt: skip
    add("--check", action="store_true", help="write nothing; status 20 if a pin would change")
    add("--to", type=_release, metavar="VERSION", help="this numba, not the newest")
    add("--lower", type=_release, metavar="X.Y",
        help="lower bound for pins that have none")  # fmt: skip
    add("--conda", type=_channel, metavar="BASE_URL",
        help="take the newest numba that this conda channel also has for linux-64")  # fmt: skip
    add("--pull-request", type=Path, metavar="FILE",
        help="write title and body of a pull request, in Markdown")  # fmt: skip
    add("--judge", action="store_true",
        help="before anything is written, run `observatory contracts`, `canary` and `compare` "
        "with the old and the new numba; takes minutes to hours")  # fmt: skip
    add("--subject", metavar="SUBJECT",
        help="the PyTensor for --judge, as `observatory compare` reads it; default: newest"
        )  # fmt: skip
    add("--judge-minutes", type=_minutes, default=60.0, metavar="N",
        help="time limit of each of the three; default: 60")  # fmt: skip
    add("--observatory", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.check and (options.judge or options.pull_request is not None):
        parser.error("--check writes and measures nothing: leave out --judge and --pull-request")
    if options.subject and not options.judge:
        parser.error("--subject needs --judge")
    return options


def _channel(text: str) -> Channel:
    try:
        return Channel(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _release(text: str) -> Version:
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 0.68.1") from error
    if version.is_prerelease or version.local is not None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a final release")
    return version


def _minutes(text: str) -> float:
    minutes = float(text)
    if not 0 < minutes < 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes")
    return minutes
