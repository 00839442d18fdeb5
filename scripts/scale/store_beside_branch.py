"""Measures what publishing a night costs on a branch and in an object store, as results grow.

    python -m scripts.scale.store_beside_branch [--nights 10 30 100] [--json FILE]

The nights are copies of one subject in `results/` with other times and, in half of the counting
samples, other ledgers. For each number of nights, the last one is published to a branch of a local
repository and to a server that speaks S3, and both are copied to a new directory. CPU seconds count
the command and git, not the server. 100 nights take about ten minutes, and a gigabyte in the
directory of temporary files.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path

from observatory.store.asv.files import project
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.reader import read_journal
from observatory.store.journal.writer import Journal
from observatory.store.records import layout
from observatory.store.records.sample import LedgerEntry
from scripts.docs.rows import add_option, keep, now
from scripts.scale.tables import StoreNight, store_nights
from tests.store_server import BUCKET, server

_NIGHT = timedelta(days=1)


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.cpu:6.1f} s of CPU, {self.wall:6.1f} s"


def night(source: Sequence[JournalEntry], ledgers: LedgerStore, into: Path, number: int) -> None:
    """Write a subject with the samples of another one, as if it had been measured that night."""
    chance = random.Random(number)  # noqa: S311
    first = source[0]
    began = datetime.now(UTC) - _NIGHT + number * timedelta(seconds=1)
    commit = sha1(str(number).encode(), usedforsecurity=False).hexdigest()
    subject = first.header.subject.model_copy(
        update={"commit": commit, "label": commit[:10], "date": began}
    )
    made = Journal.of(into, first.header.model_copy(update={"subject": subject}))
    for place, entry in enumerate(source):
        sample = entry.sample
        metrics = {
            name: value * chance.uniform(0.95, 1.05) if name.endswith("time") else value
            for name, value in sample.metrics.items()
        }
        changes: dict[str, object] = {
            "metrics": metrics, "started_at": began + timedelta(milliseconds=place)
        }  # fmt: skip
        if entry.ledger is not None:
            held = ledgers.load(entry.ledger)
            if held and chance.random() < 0.5:
                other = held[0].model_copy(update={"key": chance.randbytes(20).hex()})
                held = [other, *held[1:]]
            seconds = entry.line.seconds or [0.0] * len(held)
            changes["ledger"] = [
                LedgerEntry.model_validate(one.model_dump() | {"seconds": took})
                for one, took in zip(held, seconds, strict=True)
            ]
        made.append(f"{began:%Y%m%dT%H%M%SZ}", sample.model_copy(update=changes))
    project(into, made.read())


def took(command: Sequence[str | os.PathLike[str]], variables: Mapping[str, str]) -> Cost:
    """Run a command. Raises CalledProcessError."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.monotonic() - began)


def publish(*arguments: str | os.PathLike[str]) -> list[str]:
    """The command that publishes, in a process of its own."""
    code = "from observatory.cli.main import main; main()"
    return [sys.executable, "-c", code, "publish", *map(os.fspath, arguments)]


def megabytes(directory: Path) -> float:
    """The size of the files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    """Measure, and print a line for each number of nights and way."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nights", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--results", type=Path, default=Path("results"))
    add_option(parser)
    given = parser.parse_args()
    os.fsync = lambda _: None  # the nights are generated: nobody misses them
    journals = sorted(layout.journals(given.results), key=lambda one: one.stat().st_size)
    source = read_journal(journals[len(journals) // 2]).entries  # as long as most
    with tempfile.TemporaryDirectory(prefix="store-beside-") as directory:
        scratch = Path(directory)
        remote, clone = scratch / "remote.git", scratch / "clone"
        for command in (["init", "-q", "--bare", remote], ["clone", "-q", remote, clone]):
            subprocess.run(["git", *command], check=True, capture_output=True)
        with server(scratch / "server") as variables:
            before, rows = 0, list[StoreNight]()
            for number in sorted(given.nights):
                for row in one_size(scratch, given.results, source, before, number, variables):
                    keep(given.json, row)
                    rows.append(row)
                before = number
    print(*store_nights(rows), sep="\n\n")


def one_size(
    scratch: Path, results: Path, source: Sequence[JournalEntry], before: int, number: int,
    variables: Mapping[str, str],
) -> list[StoreNight]:  # fmt: skip
    """Publish up to ``number`` nights, the last one measured, both ways."""
    ledgers = LedgerStore(results / layout.LEDGERS)
    many, last = scratch / "many", scratch / "last"
    for one in (many, last):
        shutil.rmtree(one, ignore_errors=True)
    for place in range(before, number - 1):
        night(source, ledgers, many, place)
    night(source, ledgers, last, number - 1)
    address = f"s3://{BUCKET}/results"
    remote, clone, log = scratch / "remote.git", scratch / "clone", scratch / "server.log"
    branch = ("--repo", clone, "--push")
    for where in (branch, ("--to", address)) if many.is_dir() else ():
        took(publish(many, *where), variables)
    size = megabytes(remote)
    cost = took(publish(last, *branch), variables)
    copy = scratch / "copy"
    fetched = took(
        ["git", "clone", "-q", "--depth=1", "--branch=results", f"file://{remote}", copy], variables
    )
    of_both = {"nights": number, "samples": len(source), "size": megabytes(last)}
    branched = StoreNight(
        taken=now(), way="branch", publish=cost.cpu, copy_cpu=fetched.cpu,
        more=megabytes(remote) - size, copied=megabytes(copy / ".git"), **of_both,
    )  # fmt: skip
    print(f"{number} nights on the branch: publish {cost}; copy {fetched}", flush=True)
    shutil.rmtree(copy)
    size, lines = megabytes(scratch / "server"), log.read_text().count("HTTP/1.1")
    cost = took(publish(last, "--to", address), variables)
    more, lines = megabytes(scratch / "server") - size, log.read_text().count("HTTP/1.1") - lines
    fetched = took(publish("--to", address, "--checkout", copy), variables)
    stored = StoreNight(
        taken=now(), way="store", publish=cost.cpu, copy_cpu=fetched.cpu, more=more,
        copied=megabytes(scratch / "server"), requests=lines, **of_both,
    )  # fmt: skip
    print(f"{number} nights in the store: publish {cost}; copy {fetched}", flush=True)
    shutil.rmtree(copy)
    return [branched, stored]


if __name__ == "__main__":
    main()
