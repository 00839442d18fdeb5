"""Put each fault into a release, take a few samples and let the judge of `compare` decide.

    .venv/bin/python -m scripts.faults.trials --out FILE [NAME ...] [--subject 3.3.8] [--again]
    .venv/bin/python -m scripts.faults.trials --out FILE --night [--sample 8 --seed 26] [NAME ...]

Samples of the release itself are taken once and kept; those of a fault are taken where
scripts/faults/looks.py says. The judge, the causes and the alarms are those of `compare`. A line of
JSON for each fault goes to FILE; what is in it already is not tried again, so that a run that was
ended goes on where it was. The fault `none` is the release against itself: its alarms are false.

With `--night`, each fault is looked for in all cells of the presets `quick` and `canary`, or in
those that `--backend`, `--scenario` and `--launch` leave. The controls of `scripts.faults.controls`
come first (`none#rebuilt`); they must change nothing. `--sample` takes faults at random of those
that the usual settings show.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from observatory.analyze.comparison.comparing import Setting, compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.benchmarks.catalogue import MODELS
from observatory.benchmarks.plan import Task, plan
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.local import STATE, environment_of, local_subjects
from observatory.run.presets import Narrowed
from observatory.store.base.files import write_atomic
from observatory.store.records.comparison import Comparison, Side
from observatory.store.records.machine import this_machine
from observatory.store.records.sample import Sample
from observatory.text.records import comparison_of
from scripts.faults.compared import checked
from scripts.faults.controls import CONTROLS
from scripts.faults.kit import fault
from scripts.faults.looks import GRAPHS, LOOKS, SETTINGS, Look, Under, night
from scripts.faults.properties import faulty
from scripts.faults.record import Fault

NOTHING = "none"
_TIMEOUT = 600.0
"""Seconds of a sample at most, as `observatory run` has it: less is "crashed" on a busy machine."""


@dataclass(frozen=True)
class Row:
    """What became of one fault."""

    fault: str
    of: str
    """Its class."""
    cells: tuple[str, ...]
    under: str
    found: bool
    as_expected: bool
    """Found, with its cause and without an alarm that it does not explain."""
    causes: tuple[str, ...]
    alarms: tuple[str, ...]
    false_alarms: tuple[str, ...]
    said: str
    seconds: float
    blind: bool


@dataclass(frozen=True)
class Rig:
    """A release, and the samples of it that are kept."""

    environment: Environment
    side: Side
    keep: Path

    @classmethod
    def of(cls, subject: str, keep: Path) -> Rig:
        """Make the environment of a release. Raises SubjectError and EnvironmentMakingError."""
        subjects = local_subjects(STATE)
        parsed = subjects.parse(subject)
        environment = environment_of(parsed, subjects, STATE)
        machine = this_machine(None)
        side = Side(subject=parsed, versions=environment.versions, machine=machine)
        # What was measured elsewhere, or by other code, is no base.
        code = hashlib.sha256(machine.cpu.encode())
        for path in sorted((environment.importable / "benchmarks").rglob("*.py")):
            code.update(path.read_bytes())
        own = keep.absolute() / f"{environment.key}-{code.hexdigest()[:16]}"
        own.mkdir(parents=True, exist_ok=True)
        return cls(environment, side, own)

    def base(self, look: Look) -> list[Sample]:
        """The samples of the release itself, each taken once."""
        caches = self.keep / f"caches-{_named(look.under)}{'-whole' * look.whole}"
        caches.mkdir(exist_ok=True)
        executor = _executor(self.environment, caches, SETTINGS[look.under], look)
        return [self._kept(task, executor, look.under) for task in tasks_of(look)]

    def _kept(self, task: Task, executor: Executor, under: str) -> Sample:
        few = [name for name in MODELS[task.cell.model].members if name in executor.only]
        whole = "" if executor.only else "whole"
        file = self.keep / f"{_named(f'{task} {under}' + ''.join(few) + whole)}.json"
        return kept_sample(file, lambda: executor.run(task))

    def head(self, look: Look, environment: Environment, under: Under) -> list[Sample]:
        """The samples of the release with a fault."""
        with tempfile.TemporaryDirectory(prefix="fault-", dir=self.keep) as made:
            caches = Path(made)
            filled = self.keep / f"caches-{_named(look.under)}" / _UPGRADED
            if filled.is_dir():
                shutil.copytree(filled, caches / _UPGRADED)
            executor = _executor(environment, caches, under, look)
            return [executor.run(task) for task in tasks_of(look, upgrading=True)]

    def judged(self, look: Look, environment: Environment, under: Under) -> Comparison:
        """Compare the release with itself in another environment, or with other variables."""
        base, head = Evidence.of(self.base(look)), Evidence.of(self.head(look, environment, under))
        setting = Setting(
            base=self.side, head=self.side, started_at=datetime.now(UTC), interleaved=True, seed=0,
            observatory="", reproduce="",
        )  # fmt: skip
        return comparison_of(compared(setting, base, head, look.places()))


def kept_sample(file: Path, take: Callable[[], Sample]) -> Sample:
    """The sample that a file keeps, taken first if it keeps none.

    Raises RuntimeError for one that failed, which is kept for nobody: all that is compared with it
    would be judged wrongly.
    """
    if not file.exists():
        sample = take()
        if sample.status != "ok":
            raise RuntimeError(
                f"the release itself ended as {sample.status} in {sample.cell}; try again"
            )
        write_atomic(file, sample.model_dump_json(by_alias=True).encode())
    return Sample.model_validate_json(file.read_bytes())


_UPGRADED = "upgraded"


def tasks_of(look: Look, *, upgrading: bool = False) -> list[Task]:
    """The samples of a look. ``upgrading``: that of an upgrade starts from the release's cache."""
    cells = look.places()
    upgrades = [cell for cell in cells if cell.scenario == "upgrade"]
    others = [cell for cell in cells if cell not in upgrades]
    caches = {"cache": _UPGRADED} if upgrading else {"keep_fresh": _UPGRADED}
    tasks = plan(others, look.rounds, look.rounds_of())
    return [*tasks, *(Task(cell, "counting", 0, **caches) for cell in upgrades)]


def _executor(environment: Environment, caches: Path, under: Under, look: Look) -> Executor:
    return Executor(
        environment, caches, _TIMEOUT, flags=under.flags, variables=under.variables,
        only=() if look.whole else GRAPHS,
    )  # fmt: skip


def _named(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tried(name: str, rig: Rig, nightly: Look | None = None) -> Row:
    """Put a fault in, and say what the judge finds. Raises KeyError for an unknown one.

    ``nightly``: where a night looks; `none#NAME` is then a control.
    """
    kind, _, of = name.partition("#")
    one: Fault | None = None if kind == NOTHING else fault(name)
    own = LOOKS[name if one is not None else "key_salted" if nightly else of or "key_salted"]
    look = nightly or own
    with tempfile.TemporaryDirectory() as scratch:
        where, under = rig.environment, SETTINGS[look.under]
        if one is not None:
            where = faulty(rig.environment, name, Path(scratch))
        elif nightly is not None:
            where, under = CONTROLS[of].make(where, Path(scratch)), CONTROLS[of].under
        rig.base(look)  # which takes no time of this fault
        began = time.monotonic()
        comparison = rig.judged(look, where, under)
    seconds = time.monotonic() - began
    outcome = checked(one, comparison)
    return Row(
        name, own.of, look.cells, look.under, outcome.caught and one is not None,
        outcome.as_expected, outcome.causes, outcome.alarms, outcome.false_alarms, outcome.said,
        round(seconds, 1), own.blind,
    )  # fmt: skip


def of_a_night(number: int, seed: int) -> list[str]:
    """The controls, and faults at random of those that show with the usual settings."""

    def chance(name: str) -> bytes:  # which a new fault does not change for the others
        return hashlib.sha256(f"{seed} {name}".encode()).digest()

    usual = sorted((name for name, look in LOOKS.items() if not look.under), key=chance)
    controls = [f"{NOTHING}#{name}" for name in CONTROLS]
    return [*controls, *usual[:number]]


def read(file: Path) -> dict[str, Row]:
    """The rows of a file, by fault; the last of each."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {one["fault"]: Row(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()})
            for one in map(json.loads, lines)}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Try the faults that are not in the file yet; 1 if one could not be tried."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--subject", default="3.3.8")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--again", action="store_true", help="also those that the file has")
    parser.add_argument("--keep", type=Path, default=STATE / "faults" / "counts", metavar="DIR")
    parser.add_argument("--night", action="store_true", help="in all cells of a quick night")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="controls, and N faults")
    for word in ("backend", "scenario", "launch"):
        parser.add_argument(f"--{word}", action="append", help="of a night; default: all")
    parser.add_argument("--seed", type=int, default=26, help="of the sample")
    options = parser.parse_args(argv)
    narrowing = (options.sample, options.scenario, options.backend, options.launch)
    if any(narrowing) and not options.night:
        parser.error("--sample, --scenario, --backend and --launch are options of --night")
    usual = [name for name, look in LOOKS.items() if not look.under]
    if options.sample > len(usual):
        parser.error(f"--sample: there are {len(usual)} faults that the usual settings show")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    only = Narrowed(None, options.scenario, options.backend, options.launch)
    nightly = night(only) if options.night else None
    names = options.names or LOOKS
    if options.night and not options.names:
        names = of_a_night(options.sample, options.seed)
        print(f"seed {options.seed}: {', '.join(names)}", flush=True)
    known = {} if options.again else read(options.out)
    rig, failed = Rig.of(options.subject, options.keep), False
    for name in names:
        if name in known:
            continue
        try:
            row = tried(name, rig, nightly)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            failed = True
            continue
        with options.out.open("a") as out:
            print(json.dumps(asdict(row)), file=out, flush=True)
        word = "found" if row.found else "quiet" if row.as_expected else "NOT FOUND"
        extra = f"; false: {'; '.join(row.false_alarms)}" if row.false_alarms else ""
        print(f"{word:10}{name}: {', '.join(row.causes) or '-'} ({row.seconds:.0f} s){extra}",
              flush=True)  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
