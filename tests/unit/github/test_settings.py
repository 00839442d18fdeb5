"""The settings of a repository: defaults where nothing is said, a sentence where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.github.settings import Settings, load
from observatory.store.base.problems import RecordError


def written(where: Path, text: str) -> Path:
    path = where / "observatory.toml"
    path.write_text(text)
    return path


def test_nothing_said_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(None) == load(written(tmp_path, "")) == Settings()
    assert Settings().comment.check == "neutral"


def test_the_file_of_the_repository_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".github").mkdir()
    written(tmp_path / ".github", '[comment]\ncheck = "failure"\n[issues]\nmost_a_night = 2\n')
    monkeypatch.chdir(tmp_path)
    assert load(None).comment.check == "failure"
    assert load(None).issues.most_a_night == 2


def test_the_example_in_the_documentation_is_the_default(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "github.md").read_text()
    example = text[text.index("```toml") + 7 :].partition("```")[0]
    assert load(written(tmp_path, example)) == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[comment]\nchek = 'neutral'", "comment.chek: Extra inputs"),
        ("[coment]", "coment: Extra inputs"),
        (
            "[comment]\ncheck = 'red'",
            "comment.check: Input should be 'neutral', 'failure' or 'none'",
        ),
        ("[issues]\nmost_a_night = -1", "issues.most_a_night"),
        ("[issues]\nlabels = ['a,b']", "issues.labels.0"),
        ("comment = 3", "comment"),
        ("[comment", "not valid TOML"),
        ("x = 1\n" * 20_000, "larger than 65,536 bytes"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RecordError) as error:
        load(written(tmp_path, text))
    assert said in str(error.value)
    assert "observatory.toml" in str(error.value)


def test_a_file_that_was_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there are no settings in"):
        load(tmp_path / "none.toml")
