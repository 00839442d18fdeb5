"""Results in a real server that speaks S3, with publishers that are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.scale.store_kills import Store, rounds
from tests.store_server import BUCKET, server

pytest.importorskip("s3fs", reason="the extra store is not installed")
pytest.importorskip("localbucket", reason="there is no server that speaks S3")


@pytest.mark.integration
def test_three_publish_at_once_and_one_is_killed(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with server(tmp_path / "server") as variables:
        store = Store(f"s3://{BUCKET}/results", variables, tmp_path / "runs")
        assert rounds(store, [3.5, 4.5])
