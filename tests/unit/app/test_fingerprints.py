"""Alerts that were saved are of the code that found them."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.analyze.comparison import verdicts
from observatory.analyze.history import alerts
from observatory.app import fingerprints
from observatory.app.fingerprints import fingerprint
from observatory.store.reading.read import read_results
from observatory.store.records.triage import Triage
from observatory.text import statements
from tests.factories import journal, sample


def test_what_other_code_found_is_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(tmp_path / "results", [sample()])
    read = read_results(tmp_path / "results")
    judging = {Path(module.__file__) for module in (verdicts, alerts, statements)}
    assert judging <= set(fingerprints.sources())
    source = tmp_path / "rules.py"
    source.write_text("# as it was")
    monkeypatch.setattr(fingerprints, "sources", lambda: [source])
    before = fingerprint(read, Triage())
    assert fingerprint(read, Triage()) == before
    source.write_text("# as it is.")
    assert fingerprint(read, Triage()) != before
