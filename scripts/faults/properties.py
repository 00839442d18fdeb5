"""Drop each property of each Op from numba's keys in turn, and see whether the pairs notice.

    python -m scripts.faults.properties 3.3.8 --out FILE [--only Sum.axis ...] [--quick own]

The properties are those in which the two graphs of a pair of the model `keys` differ once PyTensor
has rewritten them. For each of them a wheel of the fault kit (`property_dropped:Sum.axis`) is
installed into an environment, and up to three of its pairs are built there as `observatory run`
builds them: the first graph into an empty cache, the second from it. With `--quick`, a sample of
the quick set is taken instead, as `observatory compare` takes it: of the pairs of the fault alone,
or with `--quick all` of all its pairs. A line of JSON for each fault goes to FILE; faults that are
in it already are not tried again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from observatory.benchmarks.apart import RAISED
from observatory.benchmarks.catalogue import MODELS
from observatory.benchmarks.messages import OUTER_GRAPH
from observatory.benchmarks.pairs import CLEARED
from observatory.run.environments import Environment
from observatory.run.local import STATE, environment_of, local_subjects
from observatory.run.uv import RealUv
from scripts.faults.kit import build

Outcome = Literal["found", "hidden", "no effect", "failed"]
"""`hidden`: the two graphs got one key and the second is right all the same; `no effect`: they
still had different keys."""
QUICK = "keys_quick"
MOST_PAIRS = 3
"""Pairs that are tried for one fault."""
_PROPERTIES = """
import json, sys
from observatory.benchmarks.models.parts.pairs.reach import properties
print(json.dumps(properties(sys.argv[1:])))
"""


@dataclass(frozen=True)
class Tried:
    """One fault, and what its pairs made of it."""

    fault: str
    outcome: Outcome
    pairs: tuple[str, ...]
    found_by: tuple[str, ...] = ()
    note: str = ""


def differing(environment: Environment) -> dict[str, list[str]]:
    """Return the pairs whose graphs differ in a property, by "Op.property"."""
    members = [name for name in MODELS["keys"].members if name not in MODELS["keys"].equal]
    done = subprocess.run(
        [str(environment.python), "-c", _PROPERTIES, *members],
        env=environment.variables(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def try_fault(fault: str, pairs: Sequence[str], environment: Environment) -> Tried:
    """Build the pairs in an environment that has the fault, and say what became of them."""
    with tempfile.TemporaryDirectory() as scratch:
        where = faulty(environment, f"property_dropped:{fault}", Path(scratch))
        first = _taken(where, pairs, "pairs_first", scratch, "--keep-cache", f"{scratch}/cache")
        if first["status"] != "ok":
            return Tried(fault, "failed", tuple(pairs), note=str(first["failure"])[:300])
        second = _taken(where, pairs, "pairs_second", scratch, "--cache", f"{scratch}/cache")
    if second["status"] != "ok":
        return Tried(fault, "failed", tuple(pairs), note=str(second["failure"])[:300])
    notes = {step["name"]: step["note"] or "" for step in second["steps"]}
    found = tuple(step["name"] for step in second["steps"] if step["status"] == "collided")
    if found:
        return Tried(fault, "found", tuple(pairs), found, notes[found[0]])
    alike = [name for name in pairs if _keys(first, name) & _keys(second, name)]
    note = f"the same keys: {', '.join(alike)}" if alike else ""
    return Tried(fault, "hidden" if alike else "no effect", tuple(pairs), note=note)


def try_quickly(fault: str, pairs: Sequence[str], environment: Environment) -> Tried:
    """Compare the keys of pairs in an environment that has the fault; no pairs: all quick ones."""
    with tempfile.TemporaryDirectory() as scratch:
        where = faulty(environment, f"property_dropped:{fault}", Path(scratch))
        record = _taken(where, pairs, "pairs_keys", scratch, model=QUICK)
    if record["status"] != "ok":
        return Tried(fault, "failed", tuple(pairs), note=str(record["failure"])[:300])
    said = {step["name"]: step["note"] or "" for step in record["steps"] if step["note"]}
    found = tuple(step["name"] for step in record["steps"] if step["status"] == "collided")
    suspects = [step["name"] for step in record["steps"] if step["note"] == CLEARED]
    if found:
        return Tried(fault, "found", tuple(pairs), found, said[found[0]])
    raised = [step for step in record["steps"] if step["status"] in RAISED]
    if raised:  # one that raises alone too proves nothing
        return Tried(fault, "failed", tuple(pairs), note=str(raised[0]["note"])[:300])
    note = f"suspect: {', '.join(suspects)}" if suspects else ""
    return Tried(fault, "hidden" if suspects else "no effect", tuple(pairs), note=note)


def faulty(environment: Environment, fault: str, scratch: Path) -> Environment:
    """Return an environment with the packages of another one and the wheel of a fault."""
    return with_wheel(environment, build(fault, scratch), scratch)


def with_wheel(environment: Environment, wheel: Path, scratch: Path) -> Environment:
    """Return an environment with the packages of another one and a wheel, which comes first."""
    uv, where = RealUv(), scratch / "env"
    uv("venv", "--quiet", "--python", str(environment.python), str(where))
    (site,) = where.glob("lib/python*/site-packages")
    (real,) = environment.python.parent.parent.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(f"{real}\n")
    found = replace(environment, python=where / "bin" / "python")
    uv("pip", "install", "--quiet", "--no-deps", "--compile-bytecode",
       "--python", str(found.python), str(wheel))  # fmt: skip
    return found


def _taken(
    environment: Environment,
    graphs: Sequence[str],
    scenario: str,
    scratch: str,
    *options: str,
    model: str = "keys",
) -> dict[str, Any]:
    asked = ("--model", model, "--scenario", scenario, "--backend", "NUMBA", "--pass", "counting")
    named = [word for name in graphs for word in ("--graph", name)]
    done = subprocess.run(
        [str(environment.python), "-m", "benchmarks.sample", *asked, *named, *options],
        env={**environment.variables(), "TMPDIR": scratch}, cwd=scratch,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not done.stdout:
        return {"status": "raised", "failure": done.stderr[-300:]}
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def _keys(record: Mapping[str, Any], step: str) -> set[str]:
    """The keys of a whole graph; none if no cache takes it."""
    own = (e for e in record["ledger"] if e["step"] == step and e["name"] == OUTER_GRAPH)
    return {entry["key"] for entry in own if entry["key"]}


def summary(tried: Iterable[Tried]) -> Iterator[str]:
    """The numbers of each outcome, and the faults that had an effect and were not found."""
    tried = list(tried)
    counts = Counter(one.outcome for one in tried)
    found, hidden = counts["found"], counts["hidden"]
    share = f"{100 * found / (found + hidden):.0f} %" if found + hidden else "-"
    yield f"{len(tried)} faults: {', '.join(f'{n} {o}' for o, n in counts.most_common())}"
    yield f"found of those that gave two graphs one key: {found} of {found + hidden} ({share})"
    for one in tried:
        if one.outcome in ("hidden", "failed"):
            yield f"{one.outcome}: {one.fault}: {one.note}"


def main(argv: list[str] | None = None) -> int:
    """Try the faults of one subject and print the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("subject")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--only", nargs="*", metavar="OP.PROPERTY")
    parser.add_argument("--quick", choices=("own", "all"), help="the quick set instead: the pairs "
                        "of the fault alone, or all")  # fmt: skip
    options = parser.parse_args(argv)
    subjects = local_subjects(STATE)
    environment = environment_of(subjects.parse(options.subject), subjects, STATE)
    faults = differing(environment)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    known = {one["fault"]: Tried(**one) for one in map(json.loads, lines)}
    wanted = [one for one in faults if one not in known and (one in (options.only or faults))]
    print(f"{len(faults)} properties differ in a pair; {len(wanted)} faults to try")
    with ThreadPoolExecutor(os.cpu_count()) as pool, options.out.open("a") as out:
        jobs = []
        for one in wanted:
            own = [name for name in faults[one] if name in MODELS[QUICK].members]
            if options.quick is None:
                jobs.append(pool.submit(try_fault, one, faults[one][:MOST_PAIRS], environment))
            elif not own:
                jobs.append(pool.submit(Tried, one, "no effect", (), note="no pair is quick"))
            else:
                some = own if options.quick == "own" else ()
                jobs.append(pool.submit(try_quickly, one, some, environment))
        for job in jobs:
            tried = job.result()
            known[tried.fault] = tried
            print(json.dumps(asdict(tried)), file=out, flush=True)
            print(f"{tried.outcome:10}{tried.fault}  {tried.note[:80]}", flush=True)
    for line in summary(known.values()):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
