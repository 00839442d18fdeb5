import json
import subprocess
from pathlib import Path

import pytest

from observatory.run.history import History, HistoryError, commit_of_wheel, message_of, tree_of
from observatory.run.releases import ReleasesError, ReleaseTable, load
from observatory.store.records import layout

RESULTS = Path(__file__).parents[3] / "results"


def _git(repository, *args):
    done = subprocess.run(
        ["git", "--git-dir", str(repository), *args], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def history(tmp_path):
    return History(load(), tmp_path)


def test_the_hashes_of_the_committed_table_never_move(history):
    assert history.commit_of("2.34.0") == "15282b8fb1079416634242ac4ce79ac9528e49b7"
    assert history.commit_of("3.3.7") == "9ef85249af9d6a929a2f14ff906787ccce887a97"


def test_the_committed_results_are_filed_under_these_hashes(history):
    headers = [
        json.loads(path.open(encoding="utf-8").readline())["subject"]
        for path in layout.journals(RESULTS)
    ]
    filed = {one["label"].partition(" ")[0]: one["commit"] for one in headers}
    assert len(filed) >= 16
    assert filed == {version: history.commit_of(version) for version in filed}


def test_two_builds_in_two_places_are_the_same_commits(tmp_path):
    builds = [History(load(), tmp_path / name).build() for name in ("one", "two")]
    logs = [_git(build, "log", "--format=%H %an %ae %ad %cn %ce %cd", "main") for build in builds]
    assert logs[0] == logs[1]
    assert len(logs[0].splitlines()) == len(load().releases)


def test_git_finds_the_hashes_that_were_computed_without_it(history):
    repository = history.build()
    for version, commit in history.commits.items():
        assert _git(repository, "rev-parse", f"v{version}^{{commit}}") == commit
    _git(repository, "fsck", "--strict")


def test_a_commit_says_how_to_install_the_release_as_of_its_day(history):
    repository = history.build()
    names = _git(repository, "ls-tree", "--name-only", "v2.35.1").splitlines()
    assert names == ["README", "requirements.txt", "uv.toml"]
    asked = _git(repository, "show", "v2.35.1:requirements.txt")
    assert asked.split() == ["pytensor==2.35.1", "numba==0.62.1"]
    assert 'exclude-newer = "2025-10-21T15:19:00Z"' in _git(repository, "show", "v2.35.1:uv.toml")


def test_the_commits_carry_the_dates_of_the_uploads(history):
    assert _git(history.build(), "show", "-s", "--format=%cI", "v3.3.7").startswith(
        "2026-11-02T00:58:04"
    )


def test_a_history_that_is_there_is_not_built_again(history):
    repository = history.build()
    witness = repository / "witness"
    witness.touch()
    assert history.build() == repository
    assert witness.exists()


def test_a_broken_or_shorter_history_is_built_again(history, tmp_path):
    last = load().releases[-1].version
    shorter = History(ReleaseTable(load().releases[:3]), tmp_path)
    repository = shorter.build()
    assert _git(repository, "rev-parse", "main") == shorter.commit_of("2.35.1")
    history.build()
    assert _git(repository, "rev-parse", "main") == history.commit_of(last)
    (repository / "HEAD").unlink()
    history.build()
    assert _git(repository, "rev-parse", "main") == history.commit_of(last)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["releases.git", "releases.lock"]


def test_a_new_release_moves_no_hash(history, tmp_path):
    last = load().releases[-1]
    newer = last.model_copy(
        update={"version": "99.0.0", "uploaded": last.uploaded.replace(year=2099)}
    )
    longer = History(ReleaseTable((*load().releases, newer)), tmp_path)
    known = {v: c for v, c in longer.commits.items() if v != "99.0.0"}
    assert known == history.commits


def test_a_note_is_in_no_hash():
    release = load().find("2.36.0")
    silent = release.model_copy(update={"note": ""})
    assert release.note
    assert (tree_of(release), message_of(release)) == (tree_of(silent), message_of(silent))


def test_the_commit_of_an_unknown_release_is_refused(history):
    with pytest.raises(ReleasesError, match=r"3\.1\.0"):
        history.commit_of("3.1.0")


def test_an_empty_table_has_no_history(tmp_path):
    with pytest.raises(HistoryError, match="empty"):
        History(ReleaseTable(()), tmp_path).build()


def test_the_commit_of_a_wheel_follows_from_its_content():
    date = load().releases[0].uploaded
    one, two = (commit_of_wheel(digest * 32, "PyTensor 1", date) for digest in ("ab", "cd"))
    assert one != two
    assert one == commit_of_wheel("ab" * 32, "PyTensor 1", date)
