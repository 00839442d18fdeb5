"""Compare a pull request with its target branch, and write an artifact.

    .venv/bin/python scripts/compare_pull_request.py --repo ../pytensor --pull 1234 --out artifact

The clone is at the merge commit that GitHub makes; its first parent is the base. The artifact is a
directory of two files: comparison.json, from `observatory compare --json`, and pull-request.txt,
the number. `observatory comment` validates both.

With --stored, the results that nights have stored of the target branch, only the pull request is
measured at first: if that finds nothing worse and nothing open, that is the comparison. Otherwise,
and if times, another base or further options are asked for, both sides are measured. The samples
stay beside the artifact: those of the head alone in OUT-head, those of both sides in OUT-samples,
with the flame graph profile.html.

Exit status 0 if there is a comparison, whatever its verdict; else that of `observatory compare`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from observatory.analyze.comparison.comparing import outcome_of
from observatory.app.comparison import as_json
from observatory.app.stored_base import compare_with_stored, stored_pair
from observatory.cli.commands.compare import STATUS
from observatory.cli.guarded import guarded
from observatory.cli.options import seconds
from observatory.cli.output import TerminalProgress, append_summary
from observatory.errors import ObservatoryError
from observatory.github.artifact import COMPARISON, NUMBER
from observatory.run.git import Git
from observatory.run.interleave import WORK
from observatory.run.nightly import PROGRAM
from observatory.store.base.files import write_atomic
from observatory.store.records.comparison import Comparison
from observatory.text.comment import comment as comment_of

_TARGET = "HEAD^1"


def main(argv: Sequence[str] | None = None, program: Sequence[str] = PROGRAM) -> int:
    """Compare and write the artifact; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--repo", type=Path, required=True, help="the clone, at the merge commit")
    add("--pull", type=_number, required=True, help="number of the pull request")
    add("--base", default=_TARGET, help=f"default: {_TARGET}, the target branch")
    add("--head", default="HEAD", help="default: HEAD")
    add("--budget", type=seconds, default="10m", help="time for measuring; default: 10m")
    add("--passes", default="", help="passes, separated by spaces; default: those of compare")
    add("--python", help="Python of both sides; default: the newest that fits")
    add("--stored", type=Path, help="results directory of the target branch")
    add("--out", type=Path, default=Path("artifact"), help="directory to write")
    add("--summary", type=Path, help="append the comment here: $GITHUB_STEP_SUMMARY")
    add("more", nargs="*", help="further options of `observatory compare`, after --")
    options = parser.parse_args(argv)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    comment = out.parent / f"{out.name}.md"
    stored: Path | None = options.stored
    # Times are never compared with stored ones, and what else is asked for is not known there.
    counted = "timing" not in options.passes.split() and not options.more
    may_suffice = counted and options.base == _TARGET and stored is not None and stored.is_dir()
    if may_suffice and _stored_suffices(options, comment):
        return _finished(options, comment)
    command = [
        *program, "compare", options.base, options.head, "--repo", str(options.repo),
        "--budget", f"{options.budget:.0f}s",
        "--json", str(out / COMPARISON), "--markdown", str(comment),
        "--samples", str(out.parent / f"{out.name}-samples"),
        *(["--python", options.python] if options.python else []),
        *(word for one in options.passes.split() for word in ("--pass", one)), *options.more,
    ]  # fmt: skip
    status = subprocess.run(command, check=False).returncode
    if status not in STATUS.values() or not (out / COMPARISON).is_file():
        print(
            f"there is no comparison: `observatory compare` ended with status {status}",
            file=sys.stderr,
        )
        return status or 1
    return _finished(options, comment)


def _stored_suffices(options: argparse.Namespace, comment: Path) -> bool:
    """Compare with the stored results, and write that if it is calm; returns whether it is."""
    try:
        found = _with_stored(options)
    except ObservatoryError as error:  # also of a merge with an older target that cannot be built
        found = str(error)
    if isinstance(found, Comparison) and (outcome := outcome_of(found)) != "calm":
        found = f"the counts differ from those of the stored base ({outcome})"
    if isinstance(found, str):
        print(f"Both sides are measured, because {found}.", flush=True)
        return False
    write_atomic(options.out / COMPARISON, as_json(found))
    write_atomic(comment, comment_of(found).encode())
    return True


def _with_stored(options: argparse.Namespace) -> Comparison | str:
    """The comparison of the head with its stored base, or why there is none."""
    pair = stored_pair(Git(options.repo), options.head, options.stored, options.python)
    if isinstance(pair, str):
        return pair
    base = pair.base.header.subject.label
    print(f"The base is {base}, which was measured before: only the head is counted.")
    return compare_with_stored(
        options.repo, pair, options.passes.split() or ("counting", WORK),
        options.budget, options.python,
        options.out.parent / f"{options.out.name}-head",
        progress=TerminalProgress(Console(stderr=True)),
    )  # fmt: skip


def _finished(options: argparse.Namespace, comment: Path) -> int:
    write_atomic(options.out / NUMBER, f"{options.pull}\n".encode())
    if options.summary is not None and comment.is_file():
        append_summary(options.summary, comment.read_text("utf-8"))
    return 0


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a pull request")
    return int(text)


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
