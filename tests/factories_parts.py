"""Real profiles of the committed results, and copies of them in which one part does more."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from observatory.benchmarks.catalogue import Cell
from observatory.store.journal.profiles import ProfileStore
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.profile import Profile

RESULTS = Path(__file__).parents[1] / "results"
MACHINE = "epyc-2core"


def profiles_of(label: str) -> dict[Cell, list[Profile]]:
    """All profiles of calls of a release, by cell: of every run that traced it."""
    store, found = ProfileStore(RESULTS / layout.PROFILES), defaultdict(list)
    for journal in layout.journals(RESULTS):
        contents = read_journal(journal)
        if contents.header is None or contents.header.subject.label != label:
            continue
        for entry in contents.current():
            if entry.line.profile is not None:
                found[entry.sample.cell].append(store.load(entry.line.profile))
    return found


def doubled(profile: Profile, rewriter: str) -> Profile:
    """The same build in which a rewriter does everything twice: its functions and what they call.

    The work of its functions is counted once more in the tree, and once more for the rewriter and
    for the phase `rewriting`.
    """
    tree = profile.tree
    assert tree is not None
    counts, entries = list(tree.counts), list(tree.entries)
    inside: int | None = None
    for place, (depth, function) in enumerate(zip(tree.depths, tree.functions, strict=True)):
        if inside is not None and depth <= inside:
            inside = None
        if inside is None and tree.names[function].endswith(f":{rewriter}"):
            inside = depth
        if inside is not None:
            entries[function] += counts[place]
            counts[place] *= 2
    more = sum(counts) - tree.calls
    update = {"calls": tree.calls + more, "counts": counts, "entries": entries}
    return profile.model_copy(update={
        "tree": tree.model_copy(update=update),
        "rewriters": [
            one.model_copy(update={"calls": (one.calls or 0) + more, "tries": 2 * (one.tries or 0)})
            if one.name == rewriter else one
            for one in profile.rewriters
        ],
        "phases": [
            one.model_copy(update={"calls": (one.calls or 0) + more})
            if one.name == "rewriting" else one
            for one in profile.phases
        ],
    })  # fmt: skip


def copied(results: Path, changed: Mapping[str, Callable[[Profile], Profile]]) -> Path:
    """The committed results of some releases, with their profiles changed by release."""
    store = ProfileStore(results / layout.PROFILES)
    for label, change in changed.items():
        for journal in layout.journals(RESULTS):
            text = journal.read_text()
            if (
                f'"label":"{label}"' not in text.partition("\n")[0]
                or journal.parent.name != MACHINE
            ):
                continue
            for sha in set(re.findall(r'"profile":"([0-9a-f]{64})"', text)):
                profile = ProfileStore(RESULTS / layout.PROFILES).load(sha)
                text = text.replace(sha, store.store(change(profile)))
            target = results / journal.relative_to(RESULTS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            recorded = Path(MACHINE, f"{journal.stem}.json")
            (results / MACHINE).mkdir(exist_ok=True)
            shutil.copy(RESULTS / recorded, results / recorded)
    shutil.copy(RESULTS / MACHINE / "machine.json", results / MACHINE)
    shutil.copy(RESULTS / "benchmarks.json", results)
    shutil.copytree(RESULTS / layout.LEDGERS, results / layout.LEDGERS, dirs_exist_ok=True)
    return results
