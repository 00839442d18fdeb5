"""Write docs/reference/: commands, exit statuses, words and schemas, taken from the code.

    .venv/bin/python scripts/reference.py            # writes what has changed; `make docs` does it
    .venv/bin/python scripts/reference.py --check    # writes nothing; status 1 if a page is stale

The pages are kept in git, so that they can be read where there is no site.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.vocabulary import (
    BACKENDS,
    LAUNCHES,
    MEASURES,
    MEMBERS,
    METRICS,
    MODELS,
    OUTCOMES,
    SCENARIOS,
    STATUSES,
    WITHOUT,
    Metric,
    backends_of,
    launches_of,
    metrics_of,
    models_of,
)
from observatory.cli.exit_codes import Exit
from observatory.cli.main import app
from observatory.decide.rules import JUDGED_NOISY
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from scripts.markdown import cell, code, codes, fenced, table
from scripts.schema_tables import schema_tables

DOCS = Path(__file__).resolve().parents[1] / "docs"
REFERENCE = DOCS / "reference"
WIDTH = 88
_KINDS = {
    "exact": "counts: two runs of one subject give the same; compared without a threshold",
    "near_exact": "counts and sizes that differ a little between two runs of one subject",
    "noisy": "times and memory: judged by tests over several processes, never by one value",
}


def pages() -> dict[str, str]:
    """File name to content, for every page of the reference."""
    schemas = {
        path.stem: json.loads(path.read_text()) for path in sorted(DOCS.glob("schemas/*.json"))
    }
    return {
        "commands.md": _page("Commands", commands()),
        "exit-statuses.md": _page("Exit statuses", exit_statuses()),
        "metrics.md": _page("Models, scenarios, backends, metrics", words()),
        "schemas.md": _page("Schemas", described(schemas)),
    }


def _page(title: str, blocks: Iterable[str]) -> str:
    note = "<!-- Made by scripts/reference.py: `make docs` makes it anew. -->"
    return "\n\n".join((f"# {title}", note, *blocks)) + "\n"


def commands() -> Iterator[str]:
    """What every command's --help says, in the order of `observatory --help`."""
    yield "What each command says when it is called with `--help`."
    for path in command_paths(get_command(app)):
        yield f"## {' '.join(('observatory', *path))}"
        yield fenced(help_of(path))


def command_paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The command and all below it.

    Typer comes with a click of its own, whose types are private.
    """
    yield path
    if hasattr(command, "list_commands"):
        with command.make_context(None, [], resilient_parsing=True) as context:
            for name in command.list_commands(context):
                yield from command_paths(command.get_command(context, name), (*path, name))


def help_of(path: Sequence[str]) -> str:
    """The help of one command; it depends on no terminal. RuntimeError if there is none."""
    plain = {"NO_COLOR": "1", "FORCE_COLOR": None, "COLUMNS": str(WIDTH), "TERM": "dumb"}
    said = CliRunner(env=plain).invoke(
        app, [*path, "--help"], prog_name="observatory", terminal_width=WIDTH
    )
    if said.exit_code != Exit.OK:
        raise RuntimeError(f"observatory {' '.join(path)} --help failed: {said.output}")
    return said.output.rstrip()


def exit_statuses() -> Iterator[str]:
    """The table of exit statuses."""
    yield "Of `observatory`. One meaning each, the same for every command."
    rows = ((code(status.value), code(status.name), cell(status.meaning)) for status in Exit)
    yield table(("status", "name", "meaning"), rows)


def words() -> Iterator[str]:
    """The vocabulary: what can be measured, and what is measured of it."""
    yield (
        "A **cell** is a model, a scenario, a backend and a launch. [The sample](../sample.md) "
        "tells what happens in each."
    )
    yield "## Metrics"
    yield "Higher is worse, for every metric."
    header = ("metric", "unit", "kind", "pass", "alerts", "meaning")
    yield table(header, map(_metric, METRICS.values()))
    yield (
        "What does not alert describes: what changed in the workload, where a time goes. "
        "A comparison also counts [`reuse_lost`](../compare.md#how-it-decides)."
    )
    yield from _meanings("Kinds", "kind", _KINDS)
    yield from _meanings("Passes", "pass", MEASURES)
    yield from _meanings("Launches", "launch", LAUNCHES)
    yield from _meanings("Backends", "backend", BACKENDS)
    yield from _meanings("Models", "model", MODELS)
    yield "The graphs of a model, in the order in which siblings, variants and upgrades build them:"
    yield table(("model", "graphs"), ((code(m), codes(names)) for m, names in MEMBERS.items()))
    yield from _meanings("Scenarios", "scenario", SCENARIOS)
    yield "What each is measured with:"
    parts = (models_of, backends_of, launches_of)
    yield table(
        ("scenario", "models", "backends", "launches"),
        ((code(name), *(codes(part(name)) for part in parts)) for name in SCENARIOS),
    )
    yield "But for these:"
    yield table(
        ("model", "not with", "because"),
        ((code(model), codes(backends), cell(why)) for model, (backends, why) in WITHOUT.items()),
    )
    yield "## Presets"
    yield "How much of the matrix `observatory run --preset NAME` measures."
    yield table(("preset", "cells", "samples", "meaning"), map(_preset, PRESETS))
    yield from _meanings("Outcomes", "outcome", OUTCOMES)
    yield "How a function came about, in a [ledger](../sample.md#the-ledger)."
    yield from _meanings("Statuses of a sample", "status", STATUSES)


def _meanings(title: str, noun: str, meanings: Mapping[Any, str]) -> Iterator[str]:
    yield f"## {title}"
    yield table((noun, "meaning"), ((code(n), cell(text)) for n, text in meanings.items()))


def _metric(metric: Metric) -> tuple[str, ...]:
    asked = [name for name in SCENARIOS if any(metric in metrics_of(name, x) for x in LAUNCHES)]
    where = [name for name in asked if metric.alerts_in(name)]
    alerts = "yes" if where and where == asked else f"in {codes(where)}" if where else ""
    if metric.name in JUDGED_NOISY:
        alerts = "by tests; as a step or a drift"
    if metric.name == "python_calls":  # as in observatory.decide.verdicts
        alerts = "in `compare`"
    kind = metric.kind.replace("_", " ")
    return code(metric.name), metric.unit, kind, metric.measure, alerts, cell(metric.meaning)


def _preset(name: str) -> tuple[str, ...]:
    preset = PRESETS[name]()
    samples = len(tasks_of(preset, Narrowed()))
    return code(name), str(len(preset.cells)), str(samples), cell(preset.meaning)


def described(schemas: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The schemas of files and lines that other programs may read."""
    yield (
        "Of files and output that other programs may read. Each is also there as a JSON Schema. "
        "A name ends with its version: what an old reader could not read any more gets another."
    )
    yield from schema_tables(schemas)


def stale(made: Mapping[str, str], directory: Path) -> list[str]:
    """The names of the pages that are not in the directory, or differ there."""
    there = {path.name: path.read_text() for path in directory.glob("*.md")}
    return [name for name, text in made.items() if there.get(name) != text]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or say which are stale; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if one is stale")
    parser.add_argument("--out", type=Path, default=REFERENCE, help="default: docs/reference")
    given = parser.parse_args(arguments)
    made = pages()
    changed = stale(made, given.out)
    for name in changed:
        if given.check:
            print(f"{given.out / name} is stale; `make docs` makes it anew")
        else:
            given.out.mkdir(parents=True, exist_ok=True)
            (given.out / name).write_text(made[name])
            print(f"{given.out / name} is written")
    return int(bool(changed) and given.check)


if __name__ == "__main__":
    sys.exit(main())
