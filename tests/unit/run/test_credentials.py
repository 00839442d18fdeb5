"""What is measured or built gets none of the credentials of the process that measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.run.credentials import without_credentials
from observatory.run.uv import RealUv


@pytest.mark.parametrize(
    "name",
    [
        "GH_TOKEN", "GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "GOOGLE_APPLICATION_CREDENTIALS",
        "AZURE_STORAGE_CONNECTION_STRING", "AZURE_CLIENT_SECRET", "TWINE_PASSWORD", "token",
    ],
)  # fmt: skip
def test_the_names_of_credentials_are_known(name: str) -> None:
    assert without_credentials({name: "x"}) == {}


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "KEYBOARD", "TOKENIZERS", "SSL_CERT_FILE", "AWS_ENDPOINT_URL", "CXX"]
)
def test_other_variables_stay(name: str) -> None:
    assert without_credentials({name: "x"}) == {name: "x"}


def test_what_uv_builds_gets_only_the_credentials_of_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tmp_path / "uv"
    shown.write_text("#!/bin/sh\nenv\n")
    shown.chmod(0o755)
    for name in ("GH_TOKEN", "UV_INDEX_MINE_PASSWORD", "MINE"):
        monkeypatch.setenv(name, "mine")
    said = RealUv(str(shown))("pip", "install", "x")
    assert sorted(line for line in said.splitlines() if line.endswith("=mine")) == [
        "MINE=mine", "UV_INDEX_MINE_PASSWORD=mine",
    ]  # fmt: skip
