"""Lets three publishers write to one object store at once, kills one of them, and counts.

    python -m scripts.scale.store_kills [--rounds 10] [--json FILE]
    python -m scripts.scale.store_kills --address s3://BUCKET/PREFIX [--server NAME] [--json FILE]

In each round all add samples to one journal, with ledgers of their own; SIGKILL strikes one of them
before or after one of the objects that it creates, and it publishes again. A reader copies
meanwhile. Each line says what was done and found; it ends with status 1 if anything was lost,
doubled or torn. Without --address it starts a server of its own (localbucket), which speaks S3.
Nothing is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from observatory.store.asv.files import project
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from scripts.docs.rows import add_option, keep, now
from scripts.scale.tables import StoreKill
from tests.factories import NOON, header, journal, ledger, sample
from tests.store_server import BUCKET, server

SAMPLES = 4
WHO = ("first", "second", "third")
PLACES = (2, 2.5, 3, 3.5, 4, 4.5)
"""Before and after the pack, the segment and the version: the first object is the format."""


def results_of(where: Path, who: str, number: int) -> Path:
    """What one publisher measured in a round: samples of the subject that all measured."""
    taken = [
        sample(
            measure="counting",
            started_at=NOON + timedelta(days=number, seconds=WHO.index(who), minutes=place),
            ledger=ledger(f"{who} {number} {place}"),
        )
        for place in range(SAMPLES)
    ]
    run = f"202611{10 + number % 20:02}T14300{WHO.index(who)}Z"
    made = journal(where, taken, run, header(f"3.3.{number % 3}"))
    project(where, made.read())
    return where


@dataclass
class Store:
    """A store with publishers and readers that are processes of their own."""

    address: str
    variables: Mapping[str, str]
    scratch: Path
    wanted: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    """In the rounds so far; so with the next."""
    doubled: Counter[str] = field(default_factory=Counter)
    server: str = ""
    json: Path | None = None
    """Where a row for each round is kept."""

    def start(self, results: Path, go: Path, kill: float) -> subprocess.Popen[str]:
        """Start a publisher that waits for the file ``go``."""
        options = ["--go", str(go), *(["--kill", str(kill)] if kill else [])]
        command = ["-m", "tests.store_publisher", self.address, str(results), *options]
        return subprocess.Popen(
            [sys.executable, *command], env={**os.environ, **self.variables},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def copied(self, name: str) -> Path:
        """Copy what is in the store. Raises CalledProcessError."""
        into = self.scratch / name
        code = "from observatory.cli.main import main; main()"
        subprocess.run(
            [sys.executable, "-c", code, "publish", "--to", self.address, "--checkout", str(into)],
            env={**os.environ, **self.variables}, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return into


def found_in(copy: Path) -> tuple[Counter[str], list[str]]:
    """The samples of a copy, each by run and time, and what is torn in it."""
    found: Counter[str] = Counter()
    torn: list[str] = []
    ledgers = LedgerStore(copy / layout.LEDGERS)
    for path in layout.journals(copy):
        read = read_journal(path)
        torn += map(str, read.problems)
        for one in read.entries:
            found[f"{one.run} {one.sample.started_at}"] += 1
            try:
                assert one.ledger is not None
                ledgers.load(one.ledger)
            except Exception as error:
                torn.append(str(error))
        if read.header and not layout.asv_path(copy, "bench", read.header.subject).is_file():
            torn.append(f"{path} has no file of asv")
    return found, torn


def in_round(store: Store, number: int, place: float) -> bool:
    """Let all publish at once, kill one, let it publish again; whether all is as it should be."""
    began = time.monotonic()
    go = store.scratch / f"go-{number}"
    directories = [results_of(store.scratch / f"{who}-{number}", who, number) for who in WHO]
    struck = number % len(WHO)
    running = [
        store.start(directory, go, place if which == struck else 0)
        for which, directory in enumerate(directories)
    ]
    while len(list(store.scratch.glob(f"go-{number}-*"))) < len(WHO):
        assert all(one.poll() is None for one in running), "a publisher ended before it began"
        time.sleep(0.01)
    go.touch()
    meanwhile, torn = found_in(store.copied(f"meanwhile-{number}"))
    said = [one.communicate(timeout=300)[0] for one in running]
    statuses = [one.returncode for one in running]
    again = store.start(directories[struck], go, 0)
    said.append(again.communicate(timeout=300)[0])
    statuses.append(again.returncode)
    for directory in directories:
        store.wanted += found_in(directory)[0]
    found, more = found_in(store.copied(f"after-{number}"))
    torn += more
    lost = store.wanted - found - store.lost
    doubled = (found - store.wanted) + (meanwhile - store.wanted) - store.doubled
    store.lost += lost  # a round counts what it lost itself
    store.doubled += doubled
    tries = sum("attempts" in text for text in said)
    row = StoreKill(
        taken=now(), server=store.server, place=place, began_again=tries,
        samples=store.wanted.total(), lost=lost.total(), doubled=doubled.total(),
        torn=len(torn),
    )  # fmt: skip
    print(
        f"{number + 1:2} SIGKILL at {place:3}: statuses {statuses}, {tries} began again, "
        f"{row.lost} lost, {row.doubled} doubled, {row.torn} torn of {row.samples} samples, "
        f"{time.monotonic() - began:.0f} s",
        *torn[:3], sep="\n   ", flush=True,
    )  # fmt: skip
    good = statuses.pop(struck) == -9 and not any(statuses)
    if not good:
        print(*said, sep="\n")
    keep(store.json, row)
    return good and not lost and not doubled and not torn


def rounds(store: Store, places: Sequence[float]) -> bool:
    """Carry out a round for each place of a kill; whether all were good."""
    good = [in_round(store, number, place) for number, place in enumerate(places)]
    return all(good)


def main() -> int:
    """Carry out the rounds that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--address", help="of an empty place; default: a server of its own")
    parser.add_argument("--server", help="what the table calls it; needed with --address")
    add_option(parser)
    given = parser.parse_args()
    if given.address and given.json and not given.server:
        parser.error("say with --server what the table is to call the server of --address")
    with (
        tempfile.TemporaryDirectory(prefix="store-kills-") as directory,
        contextlib.ExitStack() as opened,
    ):
        scratch = Path(directory)
        (scratch / "runs").mkdir()
        address, variables = given.address, {}
        if address is None:
            address = f"s3://{BUCKET}/some/prefix"
            variables = opened.enter_context(server(scratch / "server"))
        places = [PLACES[number % len(PLACES)] for number in range(given.rounds)]
        name = given.server or f"localbucket {version('localbucket')}"
        store = Store(address, variables, scratch / "runs", server=name, json=given.json)
        good = rounds(store, places)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
