"""Change PyTensor's own code of caches, one small thing at a time, and see whether counts notice.

    python -m scripts.mutants.trials --out FILE [--most 50] [--only numba|dispatch|c] [--list]
    python -m scripts.mutants.trials --out FILE --survivors

A mutant is the release with one changed line in a function that makes keys, stores, loads or locks.
Its samples are those of `scripts.mutants.targets`, from the quickest on, and the judge is that of
`compare`: the first alarm ends it. Where there is none, faults are injected into its cache, and it
is found if one has another verdict. Only samples that run the changed statement are taken, as no
other one can find it; a mutant that none runs is not tried. The order is that of a hash, so that
the first mutants are a fair sample of all. A line of JSON for each goes to FILE; those that it has
are not tried again, unless no sample ran them.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from observatory.analyze.comparison.comparing import Setting, compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.benchmarks.plan import Task, plan
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.local import STATE
from observatory.run.uv import RealUv
from observatory.store.records.sample import Sample
from observatory.text.records import comparison_of
from scripts.faults.trials import Rig, kept_sample
from scripts.mutants import kept_compiler, reach
from scripts.mutants.mutations import Mutation, mutations
from scripts.mutants.targets import TARGETS, TORTURES, TRIES, Try
from scripts.mutants.torture import verdicts

NOTHING = "nothing is changed"
_TIMEOUT = 300.0
_MUTANT, _MODULE = "OBSERVATORY_MUTANT", "OBSERVATORY_MUTANT_OF"
_HOOK = f"""
import os, sys
from importlib.machinery import PathFinder, SourceFileLoader

class Loader(SourceFileLoader):  # the module keeps its __file__, beside which others are looked for
    def get_code(self, name):
        with open(os.environ["{_MUTANT}"], "rb") as source:
            return compile(source.read(), self.path, "exec")

class Mutant:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == os.environ["{_MODULE}"]:
            spec = PathFinder.find_spec(name, path)
            spec.loader = Loader(name, spec.origin)
            return spec

if os.environ.get("{_MUTANT}"):
    sys.meta_path.insert(0, Mutant)
{reach.HOOK}"""


@dataclass(frozen=True)
class Tried:
    """What became of one mutant."""

    module: str
    name: str
    found: bool
    by: str
    """The first alarm: metric and cell; empty if there was none."""
    seconds: float
    reached: bool = True
    """Whether a cell runs the statement; otherwise the mutant was not tried."""

    @property
    def changes_nothing(self) -> bool:
        """Whether it only shows that the way in which mutants are put in raises no alarm."""
        return self.name.endswith(f": {NOTHING}")


def read_tried(file: Path) -> dict[tuple[str, str], Tried]:
    """Return what became of the mutants of a file, by module and name."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {(one.module, one.name): one for one in (Tried(**json.loads(line)) for line in lines)}


def every(site: Path, only: str | None = None) -> Iterator[tuple[str, Mutation]]:
    """Yield each module and mutation of it, in the order of a hash. ``only``: of one cache.

    The first one of each module changes nothing, and must not be found.
    """
    found = []
    for module, (cache, functions) in TARGETS.items():
        if only not in (None, cache):
            continue
        source = (site / f"{module.replace('.', '/')}.py").read_text()
        same = ast.unparse(ast.parse(source))
        yield module, Mutation("module", 0, (0, len(source)), NOTHING, same)
        made = mutations(source, partial(_in, functions), keys_only=cache == "dispatch")
        found += [(module, one) for one in made]

    def at_random(one: tuple[str, Mutation]) -> bytes:
        return hashlib.sha256(f"{one[0]} {one[1].name}".encode()).digest()

    yield from sorted(found, key=at_random)


def _in(functions: tuple[str, ...], name: str) -> bool:
    return any(not one or name == one or name.startswith(f"{one}.") for one in functions)


def hooked(environment: Environment, scratch: Path) -> Environment:
    """Return an environment with the packages of another one, which takes a module from a file."""
    RealUv()("venv", "--quiet", "--python", str(environment.python), str(scratch / "env"))
    (site,) = (scratch / "env").glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(f"{site_of(environment)}\n")
    (site / "mutant_hook.py").write_text(_HOOK)
    (site / "mutant_hook.pth").write_text("import mutant_hook\n")
    return replace(environment, python=scratch / "env" / "bin" / "python")


def site_of(environment: Environment) -> Path:
    """Return the directory of an environment's packages."""
    (site,) = environment.python.parent.parent.glob("lib/python*/site-packages")
    return site


@dataclass(frozen=True)
class Mutants:
    """Tries mutants of one release."""

    rig: Rig
    environment: Environment
    scratch: Path
    lines: Mapping[str, Sequence[reach.Lines]]
    """By cache: what each of its samples runs, and last what the faults run."""
    samples: bool = True
    """Whether samples are taken; if not, only faults are tried."""

    def tried(self, module: str, mutation: Mutation) -> Tried:
        """Take samples of a mutant until there is an alarm, and say which."""
        cache = TARGETS[module][0]
        *runs, torture = (reach.reached(one, module, mutation) for one in self.lines[cache])
        if not any((*runs, torture)):
            return Tried(module, mutation.name, False, "", 0.0, reached=False)
        began, by = time.monotonic(), ""
        for one, runs_it in zip(TRIES[cache], runs, strict=True) if self.samples else ():
            by = self._alarm(one, module, mutation) if runs_it else ""
            if by:
                break
        else:
            by = self._tortured(module, mutation) if torture else ""
        return Tried(module, mutation.name, bool(by), by, round(time.monotonic() - began, 1))

    def _alarm(self, where: Try, module: str, mutation: Mutation) -> str:
        tasks = plan((where.cell,), where.rounds)
        with tempfile.TemporaryDirectory(dir=self.scratch) as made:
            changed = Path(made, "mutant.py")
            changed.write_text(mutation.source)
            variables = {_MUTANT: str(changed), _MODULE: module}
            executor = Executor(
                self.environment, Path(made), _TIMEOUT, variables=variables, only=where.only
            )
            head = []
            for task in tasks:
                head.append(sample := executor.run(task))
                if sample.status != "ok":
                    return f"{sample.status} in {sample.cell}"
        base = [self._base(task, where.only) for task in tasks]
        setting = Setting(
            base=self.rig.side, head=self.rig.side, started_at=datetime.now(UTC), interleaved=True,
            seed=0, observatory="", reproduce="",
        )  # fmt: skip
        found = comparison_of(
            compared(setting, Evidence.of(base), Evidence.of(head), (where.cell,))
        )
        return next((f"{one.metric} of {one.cell}" for one in found.worse), "")

    def _tortured(self, module: str, mutation: Mutation) -> str:
        """Return the first fault with another verdict than without the mutant; empty: none."""
        if not (faults := TORTURES[TARGETS[module][0]]):
            return ""
        told = hashlib.sha256(f"{faults} {verdicts.__doc__}".encode()).hexdigest()[:16]
        file = self.rig.keep / f"mutants-torture-{told}.json"
        if not file.exists():
            if not (usually := verdicts(self.environment, faults, {})):
                raise SystemExit("the faults cannot be tried on the release itself; try again")
            file.write_text(json.dumps(usually))
        with tempfile.TemporaryDirectory(dir=self.scratch) as made:
            changed = Path(made, "mutant.py")
            changed.write_text(mutation.source)
            variables = {_MUTANT: str(changed), _MODULE: module}
            found = verdicts(self.environment, faults, variables)
        usual = json.loads(file.read_text())
        return next((f"torture {one}" for one in faults if found.get(one) != usual[one]), "")

    def _base(self, task: Task, only: tuple[str, ...]) -> Sample:
        place = hashlib.sha256(f"{task} {only}".encode()).hexdigest()[:16]
        file = self.rig.keep / f"mutants-{place}.json"
        caches = self.rig.keep / "caches-mutants"
        caches.mkdir(exist_ok=True)
        executor = Executor(self.environment, caches, _TIMEOUT, only=only)
        return kept_sample(file, lambda: executor.run(task))


def _lines(keep: Path, environment: Environment, cache: str) -> list[reach.Lines]:
    """Return what each sample of a cache runs, and last what its faults run."""
    modules = [module for module, (of, _) in TARGETS.items() if of == cache]
    samples = [
        reach.lines_kept(keep, environment, [(one.cell, one.only)], modules)
        for one in TRIES[cache]
    ]  # fmt: skip
    return [*samples, reach.lines_kept(keep, environment, [], modules, TORTURES[cache])]


def _part(text: str) -> tuple[int, int]:
    """K and N of K/N. Raises ValueError."""
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def main(argv: list[str] | None = None) -> int:
    """Try mutants that are not in the file yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--subject", default="3.3.8")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--most", type=int, default=10_000, help="how many to try at most")
    parser.add_argument("--only", choices=tuple(TRIES))
    parser.add_argument("--list", action="store_true", help="only say how many there are")
    parser.add_argument("--again", action="store_true", help="only those that survived, once more")
    parser.add_argument("--faults", action="store_true", help="take no samples, only try faults")
    parser.add_argument("--name", action="append", metavar="TEXT", help="only names that have TEXT")
    parser.add_argument(
        "--part", type=_part, default="1/1", metavar="K/N", help="only the Kth of N parts"
    )
    parser.add_argument("--no-controls", action="store_true", help="none that changes nothing")
    parser.add_argument("--survivors", action="store_true", help="only say which survived")
    parser.add_argument("--keep", type=Path, default=STATE / "faults" / "counts", metavar="DIR")
    options = parser.parse_args(argv)
    if options.faults and not options.again:
        parser.error("--faults is for mutants that survived their samples: add --again")
    known = read_tried(options.out)
    if options.survivors:
        tried = [one for one in known.values() if one.reached and not one.changes_nothing]
        print(f"{sum(one.found for one in tried)} of {len(tried)} found,", end=" ")
        print(f"{sum(not one.reached for one in known.values())} not reached")
        for one in tried:
            if not one.found:
                print(f"{one.module}: {one.name}")
        return 0
    rig = Rig.of(options.subject, options.keep)
    wanted = list(every(site_of(rig.environment), options.only))
    if options.list:
        for module, number in Counter(module for module, _ in wanted).items():
            print(f"{number:5} {module}")
        return 0
    compiler = kept_compiler.make(options.keep / "compiler")
    os.environ["PATH"] = f"{compiler}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        environment = hooked(rig.environment, Path(scratch))
        lines = {
            cache: _lines(rig.keep, environment, cache)
            for cache in ({options.only} if options.only else {*TRIES})
        }
        mutants = Mutants(rig, environment, Path(scratch), lines, not options.faults)
        old = {
            place for place, one in known.items()
            if one.reached and (one.found or not options.again)
        }  # fmt: skip
        if options.again:
            wanted = [one for one in wanted if (one[0], one[1].name) in known]
        part, parts = options.part
        new = [
            (module, one) for module, one in wanted[part - 1 :: parts]
            if (module, one.name) not in old
            and not (options.no_controls and one.what == NOTHING)
            and (not options.name or any(text in one.name for text in options.name))
            and (not options.faults or TORTURES[TARGETS[module][0]])
        ]  # fmt: skip
        left = options.most
        for module, mutation in new:
            if not left:
                break
            found = mutants.tried(module, mutation)
            left -= found.reached
            with options.out.open("a") as out:
                print(json.dumps(asdict(found)), file=out, flush=True)
            if found.found and mutation.what == NOTHING:
                print(f"{module} is found although nothing is changed: {found.by}", file=sys.stderr)
                return 1
            said = f"{module} {found.name} ({found.seconds:.0f} s)"
            print(f"{found.by or 'SURVIVED':40} {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
