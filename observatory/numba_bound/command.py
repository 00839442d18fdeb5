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
from observatory.numba_bound.channel import Channel, Chosen, choose
from observatory.numba_bound.judges import Bench, Finding, Judged, Runner
from observatory.numba_bound.pins import MOST_BYTES, Project, UnsafeError, read
from observatory.numba_bound.plan import Plan, exclusions, main_bounds, plan, write
from observatory.numba_bound.released import NoAnswerError, Pip, RealPip, Released
from observatory.numba_bound.statuses import Status
from observatory.store.base.files import write_atomic

_ABOUT = """\
Raise the upper bound of numba in a pyproject.toml to the newest numba.

Every pin of numba becomes "numba>=X.Y,<=A.B.C": the lower bound, exclusions, extras
and markers stay, the upper bound becomes the newest release. The rest of the file
stays byte for byte. A bound is never lowered.

  python -m observatory.numba_bound             rewrite ./pyproject.toml
  python -m observatory.numba_bound --check     write nothing, say what is due
  python -m observatory.numba_bound --judge --pull-request text.md
                                                measure first, write down the verdict
"""


_OBSERVATORY = (sys.executable, "-m", "observatory")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP: a judge must not go on alone."""


def main(
    argv: Sequence[str] | None = None, pip: Pip | None = None, runner: Runner = judges.run
) -> Status:
    """Do what the command line says. What is expected to go wrong is a sentence and a status."""
    options = _options(argv)
    path: Path = options.pyproject
    before = {number: signal.signal(number, _interrupt) for number in _SIGNALS}
    try:
        return _bump(path, options, pip or RealPip(), runner)
    except UnsafeError as error:
        return _failed(f"{path}: {error}; nothing was rewritten", Status.NOT_SAFE)
    except OSError as error:
        what = f"{error.filename or path}: {error.strerror or error}"
        return _failed(f"{what}; nothing was rewritten", Status.NOT_SAFE)
    except NoAnswerError as error:
        return _failed(f"{error}; nothing was rewritten", Status.NO_ANSWER)
    except _Interrupted:
        return _failed("interrupted; nothing was rewritten", Status.INTERRUPTED)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _bump(path: Path, options: argparse.Namespace, pip: Pip, runner: Runner) -> Status:
    content = _content(path)
    project = read(content)
    if not project.pins:
        return _failed(f"{path}: {_without_pins(project)}", Status.NO_PIN)
    released = Released(project.requires_python, pip)
    chosen = choose(released, exclusions(project), options.to, options.conda)
    lagging = chosen.end < chosen.newest
    due = plan(
        project, chosen.end, lambda bounds: released.within(bounds) if lagging else None,
        options.lower,
    )  # fmt: skip
    after = due.content()
    for line in wording.report(due, chosen.source):
        print(line)
    if not due.rewritten:
        print(f"{path}: nothing to rewrite" + (", nothing to propose" if options.asks else ""))
        return Status.LEFT if due.left else Status.DONE
    if options.check:
        print(f"{path}: {_pins(due)} would be rewritten")
        return Status.DUE
    judged = _judged(project, released, chosen, options, runner)
    if options.pull_request is not None:
        text = wording.pull_request(due, chosen.source, judged)
        write_atomic(options.pull_request, text.encode())
    write(path, content, after)
    print(f"{path}: {_pins(due)} rewritten")
    return _status(judged)


def _judged(
    project: Project, released: Released, chosen: Chosen, options: argparse.Namespace,
    runner: Runner,
) -> Judged | None:  # fmt: skip
    if not options.judge:
        return None
    old = released.within(main_bounds(project))
    tool = (options.observatory,) if options.observatory else _OBSERVATORY
    bench = Bench(options.subject or "newest", tool, runner, options.judge_minutes * 60)
    judged = bench.judge(chosen.end, old)
    for line in wording.verdicts(judged):
        print(line)
    return judged


def _status(judged: Judged | None) -> Status:
    if judged is None or judged.finding is Finding.GOOD:
        return Status.DONE
    return Status.DO_NOT_MERGE if judged.finding is Finding.BAD else Status.NOT_JUDGED


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise UnsafeError("there is no such file; name a pyproject.toml")
    with path.open("rb") as stream:
        return stream.read(MOST_BYTES + 1)


def _without_pins(project: Project) -> str:
    said = "no list of requirements in it names numba"
    if project.elsewhere:
        said += f"; not rewritten, being no list of requirements: {wording.places(project)}"
    if project.dynamic:
        said += "; it says that its dependencies are dynamic, which means in another file"
    return said


def _pins(due: Plan) -> str:
    count = len(due.rewritten)
    return f"{count} pin{'s' * (count != 1)}"


def _failed(sentence: str, status: Status) -> Status:
    print(f"error: {sentence}", file=sys.stderr)
    return status


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
    add("--check", action="store_true", help="write nothing; status 20 if a pin is not as it "
        "should be")  # fmt: skip
    add("--to", type=_release, metavar="VERSION", help="this numba instead of the newest")
    add("--lower", type=_release, metavar="X.Y",
        help="lower bound for pins that have none of their own")  # fmt: skip
    add("--conda", type=_channel, metavar="BASE_URL",
        help="take the newest numba that this conda channel has too (for linux-64)")  # fmt: skip
    add("--pull-request", type=Path, metavar="FILE",
        help="write title and body of a pull request, in Markdown")  # fmt: skip
    add("--judge", action="store_true",
        help="before anything is written, run `observatory contracts`, `canary` and `compare` "
        "with the old and the new numba; minutes to hours")  # fmt: skip
    add("--subject", metavar="SUBJECT",
        help="the PyTensor that --judge uses, as `observatory compare` reads it; default: newest"
        )  # fmt: skip
    add("--judge-minutes", type=_minutes, default=60.0, metavar="N",
        help="time limit of each of the three; default: 60")  # fmt: skip
    add("--observatory", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    options.asks = options.judge or options.pull_request is not None
    if options.check and options.asks:
        parser.error("--check writes nothing and measures nothing: leave out --judge and "
                     "--pull-request, or --check")  # fmt: skip
    if options.subject and not options.judge:
        parser.error("--subject is for --judge")
    return options


def _release(text: str) -> Version:
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no version such as 0.68.1") from error
    if version.is_prerelease or version.local is not None:
        raise argparse.ArgumentTypeError(f"{text!r} is no final release")
    return version


def _channel(text: str) -> Channel:
    try:
        return Channel(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes")
    return minutes
