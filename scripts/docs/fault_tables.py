"""What became of faults and mutants, as the tables of docs/faults.md and mutants.md.

They are made from the rows that `scripts.faults.trials` and `scripts.mutants.trials` wrote to
results/tables/; why a mutant survived is in mutant_reasons.json there.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from observatory.store.records.layout import TABLES
from observatory.text.titles import title_of
from observatory.text.words import listed
from scripts.docs.markdown import wrapped
from scripts.docs.rows import blocks
from scripts.docs.rows import read as read_rows
from scripts.faults.compared import Compared, compared_table
from scripts.faults.controls import CONTROLS
from scripts.faults.crossed import Crossed, crossed_table
from scripts.faults.kit import fault
from scripts.faults.trials import NOTHING, Row, read
from scripts.mutants.targets import TARGETS
from scripts.mutants.trials import Tried, read_tried

KEPT = Path(__file__).parents[2] / "results" / TABLES
ROWS, NIGHTS = KEPT / "faults.jsonl", KEPT / "fault_nights.jsonl"
COMPARED, CROSSED = "compared_faults", "crossed_faults"
MUTANTS, REASONS = KEPT / "mutants.jsonl", KEPT / "mutant_reasons.json"

_CACHES = {"numba": "numba's cache", "c": "C's cache"}


def fault_table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table of faults, by class."""
    yield "| class | fault | what it does | found | cause | false alarms | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda one: (one.of, one.fault)):
        if row.fault.partition("#")[0] == NOTHING:
            continue
        one = fault(row.fault)
        blind = "" if row.blind else " *"
        under = f", with {row.under}" if row.under else ""
        causes = _causes(row)
        false = "; ".join(row.false_alarms) or "none"
        yield (
            f"| {row.of} | `{row.fault}`{blind} | {one.meaning}{under} | "
            f"{'yes' if row.found else '**no**'} | {causes} | {false} | {row.seconds:.0f} |"
        )


def fault_figures(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a sentence with the numbers of the table."""
    known = list(rows)
    own = [row for row in known if row.fault.partition("#")[0] != NOTHING]
    nothing = [row for row in known if row not in own]
    blind = [row for row in own if row.blind]
    found = sum(row.found for row in own)
    false = sum(bool(row.false_alarms) for row in own)
    quiet = sum(not row.causes and not row.false_alarms for row in nothing)
    unseen = sum(row.found for row in blind)
    yield (
        f"The observatory finds {found} of {len(own)} faults, and {unseen} "
        f"of the {len(blind)} that were written before the probes were read. {false} of "
        f"{len(own)} rows have an alarm that the fault does not explain. {quiet} of "
        f"{len(nothing)} comparisons of the release with itself raised no alarm."
    )


def _causes(row: Row) -> str:
    """The causes of a row, as readers of a comparison see them."""
    alone = "none: an alarm alone" if row.alarms else "none: a remark"
    return ", ".join(map(title_of, row.causes)) or (alone if row.found else "-")


def night_table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table of what was looked for in all cells of a night."""
    rows = list(rows)
    if not rows:
        yield "No row has been recorded yet."
        return
    yield "| tried | what it does | found | cause | false alarms | cells | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        kind, _, control = row.fault.partition("#")
        is_control = kind == NOTHING
        meaning = CONTROLS[control].meaning if is_control else fault(row.fault).meaning
        found = "yes" if row.found else "**no**"
        if is_control:
            found = "nothing" if row.as_expected else "**an alarm**"
        causes = _causes(row)
        yield (
            f"| `{control or row.fault}` | {meaning} | {found} | "
            f"{causes} | {'; '.join(row.false_alarms) or 'none'} | {len(row.cells)} | "
            f"{row.seconds:.0f} |"
        )


def mutant_table(tried: Iterable[Tried], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table of mutants, by module."""
    of: dict[str, Counter[str]] = defaultdict(Counter)
    for one in tried:
        of[one.module][_outcome(one, reasons)] += 1
    yield "| module | mutants | found | equivalent | holes | found of those that matter |"
    yield "|---|---|---|---|---|---|"
    total: Counter[str] = Counter()
    for module, counts in [*sorted(of.items()), ("all", total)]:
        matter = counts["found"] + counts["hole"]
        share = f"{100 * counts['found'] / matter:.0f} %" if matter else "-"
        yield (
            f"| `{module}` | {counts.total()} | {counts['found']} | "
            f"{counts['equivalent']} | {counts['hole']} | {share} |"
        )
        total.update(counts)


def mutant_figures(tried: Iterable[Tried], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence with how many mutants were tried, and what the others are."""
    known = list(tried)
    modules = Counter(one.module for one in known)
    by_cache: Counter[str] = Counter()
    for module, number in modules.items():
        by_cache[TARGETS[module][0]] += number
    untried = Counter(_outcome(one, reasons) for one in known if not one.reached)
    holes = "1 is a hole" if untried["hole"] == 1 else f"{untried['hole']} are holes"
    caches = listed([f"{number} of {_CACHES[name]}" for name, number in by_cache.items()])
    yield wrapped(
        f"There are {len(known)} mutants, {caches}. {len(known) - untried.total()} of them were "
        f"tried. No sample runs the other {untried.total()}; by a look at the source, "
        f"{untried['equivalent']} of these are equivalent and {holes}."
    )


def sample_figures(tried: Iterable[Tried], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence with what was found of the sample.

    No interval: graphs were made for what the sample had shown not to be found.
    """
    counts = Counter(_outcome(one, reasons) for one in tried)
    found, matter = counts["found"], counts["found"] + counts["hole"]
    if not matter:
        yield "None of them has been tried yet."
        return
    yield (
        f"The sample has {counts.total()} mutants, {counts['equivalent']} of them equivalent. Of "
        f"the other {matter}, {found} are found now: {100 * found / matter:.0f} %."
    )


def survivors(tried: Iterable[Tried], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each mutant that survived, with the reason."""
    yield "| module, function, line | change | why it survived |"
    yield "|---|---|---|"
    for one in sorted(tried, key=lambda each: (each.module, each.name)):
        if one.found:
            continue
        where, _, what = one.name.partition(": ")
        reason = _reason(one, reasons)
        shown = what.replace("|", "\\|").replace("`", "'")
        yield f"| `{one.module.rpartition('.')[2]}` {where} | `{shown}` | {reason} |"


def _outcome(one: Tried, reasons: Mapping[str, str]) -> str:
    word = "found" if one.found else _reason(one, reasons).partition(":")[0]
    return word if word in ("found", "equivalent") else "hole"


def _reason(one: Tried, reasons: Mapping[str, str]) -> str:
    """Why a mutant was not found; without a reason it counts as a hole."""
    unknown = "not looked into" if one.reached else "not tried"
    return reasons.get(f"{one.module} {one.name}", unknown)


def fault_parts() -> dict[str, str]:
    """The parts of docs/faults.md that are made from the rows: from name to content."""
    rows = list(read(ROWS).values())
    found = {
        "faults": "\n".join(fault_table(rows)),
        "figures": "\n".join(fault_figures(rows)),
        "nights": "\n".join(night_table(read(NIGHTS).values())),
    }
    found["compared"] = blocks(compared_table, read_rows(Compared, COMPARED))
    return found | {"crossed": blocks(crossed_table, read_rows(Crossed, CROSSED))}


def mutant_parts() -> dict[str, str]:
    """The same of docs/mutants.md."""
    tried = [one for one in read_tried(MUTANTS).values() if not one.changes_nothing]
    reasons = json.loads(REASONS.read_text()) if REASONS.exists() else {}
    sample = [one for one in tried if TARGETS[one.module][0] == "dispatch"]
    whole = [one for one in tried if one not in sample]
    made = {
        "mutants": mutant_table(whole, reasons), "mutants tried": mutant_figures(whole, reasons),
        "sample": sample_figures(sample, reasons), "survivors": survivors(tried, reasons),
    }  # fmt: skip
    return {name: "\n".join(lines) for name, lines in made.items()}
