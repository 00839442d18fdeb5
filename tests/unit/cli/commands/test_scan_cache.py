"""`observatory scan-cache` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from observatory.errors import Exit
from observatory.guard.scan.scanning import Report
from tests.command import observatory
from tests.factories_scan import RANDOM_UID, mangled, object_of, put

FGRAPH = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"
ADD = "pytensor.link.numba.dispatch.basic.add"


def scanned(*arguments: str | Path) -> Any:
    return observatory("scan-cache", *arguments)


@pytest.fixture
def collided(tmp_path: Path) -> Path:
    """A cache of a release without protection: one symbol collided, two may come to."""
    bodies = {mangled(ADD, 7): "x + 1", mangled(ADD, 9): "x + 2"}
    put(tmp_path, "one", object_of({mangled(FGRAPH, 1): "x * 0.1", **bodies}))
    put(tmp_path, "other", object_of({mangled(FGRAPH, 1): "x * 0.2"}))
    return tmp_path


@pytest.fixture
def harmless(tmp_path: Path) -> Path:
    """A cache of a release that draws its uids."""
    for name, body in (("one", "x * 0.1"), ("other", "x * 0.2")):
        put(tmp_path, name, object_of({mangled(FGRAPH, RANDOM_UID): body}))
    return tmp_path


def test_collided_and_vulnerable_functions_are_listed_and_are_the_exit_status(
    collided: Path,
) -> None:
    done = scanned(collided)
    assert done.returncode == Exit.SYMBOLS
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()]
    assert ["collided", "1", "2", "2"] in [row[:4] for row in rows]
    assert ["vulnerable", "2", "1", "1", ADD] in rows
    assert done.stdout.splitlines()[-1] == (
        "1 symbol collided, 2 vulnerable, 0 harmless, among 3 functions in 2 data files. "
        "A process that loads this cache may call the wrong function."
    )


def test_harmless_copies_are_listed_when_asked_for(harmless: Path) -> None:
    done = scanned(harmless)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert done.stdout == (
        "0 symbols collided, 0 vulnerable, 1 harmless, among 1 function in 2 data files.\n"
    )
    everything = scanned(harmless, "--all")
    assert everything.returncode == Exit.OK
    assert "harmless" in everything.stdout.splitlines()[3]


def test_vulnerable_ones_alone_are_the_exit_status_too(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({mangled(ADD, 7): "x + 1"}))
    done = scanned(tmp_path)
    assert done.returncode == Exit.SYMBOLS
    assert "Another process may give one of these symbols to another function." in done.stdout


def test_the_report_as_json_fits_its_schema_and_has_harmless_ones_too(
    harmless: Path,
) -> None:
    done = scanned(harmless, "--json")
    report = TypeAdapter(Report).validate_json(done.stdout, strict=True)
    assert json.loads(done.stdout)["schema"] == "observatory/guard/scan/1"
    assert [symbol.uid for symbol in report.symbols] == [str(RANDOM_UID)]


def test_what_cannot_be_read_is_named_and_counts_when_asked_for(harmless: Path) -> None:
    put(harmless, "mac", b"\xcf\xfa\xed\xfe\x07\0\0\x01")
    done = scanned(harmless)
    assert done.returncode == Exit.OK
    assert "mac.py313.1.nbc: object files of the format Mach-O" in " ".join(done.stderr.split())
    assert "; 1 file could not be read." in done.stdout
    assert scanned(harmless, "--strict").returncode == Exit.UNREADABLE


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_a_directory_without_a_cache_is_a_mistake_of_usage(tmp_path: Path, name: str) -> None:
    done = scanned(tmp_path / name)
    assert done.returncode == Exit.USAGE
    assert "no cache of numba's" in done.stderr or "is not a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_from_a_file_are_shown_and_never_obeyed(tmp_path: Path) -> None:
    code = object_of({mangled("evil_name_xx", 7): "x + 1"})
    put(tmp_path, "one", code.replace(b"evil_name_xx", b"[bold]x\x1b[31m"))
    done = scanned(tmp_path)
    assert "[bold]x\ufffd[31m" in done.stdout
    assert "\x1b" not in done.stdout
