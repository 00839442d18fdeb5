"""Read mutated contents of every kind that strangers can give, for a time; print what came of it.

    python scripts/fuzz.py --for 5m
    python scripts/fuzz.py --for 30s --only journal --seed 7
    python scripts/fuzz.py --for 5m --guided
    python scripts/fuzz.py --for 30m --seed 63 --json results/tables/fuzz.jsonl    # for the page

Each surface of `tests.hostile.surfaces` has a process of its own and an equal part of the time. A
case that ends in a traceback stays in build/fuzz/; put it into tests/corpora/ when it is mended.
With --guided, atheris (the extra `fuzz`) changes those contents further that reached new code.
The exit status is 0 if there was no traceback, nothing was executed and no content took more than
200 MB.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NoReturn

from observatory.cli.guarded import guarded

# A worker imports everything else after it has asked atheris to watch what is imported.
if TYPE_CHECKING:
    from scripts.docs.fuzz_tables import Fuzzed
    from tests.hostile.trials import Outcome

ROOT = Path(__file__).resolve().parents[1]
BUDGET = 200
"""MB that a content may take at most."""
_GUARD = 3 * 2**30
_PATIENCE = 600.0
"""Seconds that a surface may take beyond ten times its part: a content that hangs is a failure."""
_UNITS = {"s": 1, "m": 60, "h": 3600}


def main() -> int:
    """Run the command; returns its exit status."""
    options = _options()
    sys.path.insert(0, str(ROOT))
    if options.worker:
        _worker(options)
    if options.guided and importlib.util.find_spec("atheris") is None:
        print("--guided needs atheris, and it is not installed: pip install -e '.[fuzz]'")
        return 2
    from scripts.docs.fuzz_tables import outcomes
    from scripts.docs.rows import keep
    from tests.hostile.surfaces import SURFACES

    chosen = [name for name in SURFACES if not options.only or options.only in name]
    if not chosen:
        print(f"no surface is called {options.only}; choose from {', '.join(SURFACES)}")
        return 2
    each = options.seconds / len(chosen)
    rows = []
    for name in chosen:
        outcome = _surface(name, each, options)
        rows.append(_row(name, each, outcome, options))
        keep(options.json, rows[-1])
        for case, said in list(outcome.failures.items())[:5]:
            print(f"\n{name}, case {case}:\n{said}", file=sys.stderr)
    how = " --guided" if options.guided else ""
    print(f"`python scripts/fuzz.py --for {options.seconds:g}s --seed {options.seed}{how}`\n")
    print(outcomes(rows))
    return int(any(one.tracebacks or one.executed or one.megabytes > BUDGET for one in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--for", dest="seconds", type=_seconds, default=300.0, metavar="TIME",
                        help="in all, such as 90s, 5m or 1h (default 5m)")  # fmt: skip
    parser.add_argument("--only", default="", metavar="NAME", help="surfaces with this in the name")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default 0)")
    parser.add_argument("--guided", action="store_true", help="by the code that contents reach")
    parser.add_argument("--kept", type=Path, default=ROOT / "build" / "fuzz", metavar="DIR",
                        help="where cases stay that fail (default build/fuzz)")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="append the rows to this file; results/tables/ has one")  # fmt: skip
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90s, 5m or 1h")
    return float(found[1]) * _UNITS[found[2]]


def _worker(options: argparse.Namespace) -> NoReturn:
    """Try one surface in this process, print what came of it as JSON, and end."""
    from tests.hostile import guided

    with guided.instrumented() if options.guided else nullcontext():
        from tests.hostile import trials
        from tests.hostile.surfaces import SURFACES

    resource.setrlimit(resource.RLIMIT_AS, (_GUARD, _GUARD))
    surface = SURFACES[options.worker]
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))
    trial = trials.Trials(surface, scratch, options.kept / trials.place_of(options.worker))

    def end() -> NoReturn:
        shutil.rmtree(scratch, ignore_errors=True)
        print(json.dumps(asdict(trial.outcome())), flush=True)
        os._exit(0)

    seeds = [*surface.seeds(), *trials.corpus(options.worker)]
    deadline = time.monotonic() + options.seconds  # not of imports, which take some much longer
    if options.guided:
        guided.guide(trial.read, surface, seeds, scratch / "corpus", trial.kept,
                     seed=options.seed, deadline=deadline, end=end)  # fmt: skip
    dice = Random(f"{options.seed} {options.worker}")  # noqa: S311
    for content in trials.until(deadline, surface, seeds, dice):
        trial.read(content)
    end()


def _surface(name: str, seconds: float, options: argparse.Namespace) -> Outcome:
    from tests.hostile.trials import Outcome

    words = [
        "--worker", name, "--for", f"{max(1, round(seconds))}s", "--seed", str(options.seed),
        "--kept", str(options.kept), *(["--guided"] if options.guided else []),
    ]  # fmt: skip
    command, patience = [sys.executable, __file__, *words], 10 * seconds + _PATIENCE
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT,
                              timeout=patience)  # fmt: skip
        return Outcome(**json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        said = f"the process did not end within {patience:.0f} s"
    except (ValueError, IndexError):
        said = f"the process ended with {done.returncode}: {done.stderr[-800:]}"
    return Outcome(failures={"?": said})


def _row(name: str, seconds: float, found: Outcome, options: argparse.Namespace) -> Fuzzed:
    from scripts.docs.fuzz_tables import Fuzzed
    from scripts.docs.rows import now

    return Fuzzed(
        taken=now(), surface=name, guided=options.guided, seed=options.seed, seconds=seconds,
        cases=found.cases, refused=found.refused, tracebacks=len(found.failures),
        megabytes=found.largest, slowest=found.slowest, executed=found.executed,
    )  # fmt: skip


if __name__ == "__main__":
    with guarded():
        sys.exit(main())
