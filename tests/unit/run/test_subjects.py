import os
import subprocess
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fakes import FakeUv

from observatory.run.history import History
from observatory.run.interpreters import Interpreter, Interpreters, NoInterpreterError
from observatory.run.releases import load
from observatory.run.sources import SubjectError
from observatory.run.subjects import Subjects
from observatory.run.uv import Index


@pytest.fixture
def subjects(tmp_path, silent_uv, found):
    return Subjects(History(load(), tmp_path), Index(silent_uv), found)


@pytest.fixture
def wheel(tmp_path):
    def make(name="pytensor", version="3.3.8", text="one"):
        path = tmp_path / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo(f"{name}/__init__.py", (2026, 5, 4, 3, 2, 0)), text)
        return path

    return make


def _with_uv(subjects, answer):
    subjects.index = Index(FakeUv(answer))
    return subjects


@pytest.mark.parametrize("text", ["3.3.7", "pytensor==3.3.7", " pytensor == 3.3.7 ", "v3.3.7"])
def test_a_release_can_be_written_in_several_ways(subjects, text):
    subject = subjects.parse(text)
    assert subject.label == "3.3.7"
    assert subject.requirements == ("pytensor==3.3.7", "numba==0.68.0")
    assert subject.exclude_newer == datetime(2026, 11, 3, 0, 58, 4, tzinfo=UTC)
    assert subject.commit == subjects.history.commit_of("3.3.7")
    assert subject.env_name == "observatory-py3.13"


def test_an_extra_replaces_the_numba_of_the_day_and_is_an_axis_of_its_own(subjects):
    def answer(args, stdin):
        assert stdin == "numba==0.66.0"
        return '[[packages]]\nname = "numba"\nsdist = { upload-time = 2026-07-28T00:00:00Z }'

    subject = _with_uv(subjects, answer).parse("3.3.7 numba==0.66.0")
    assert subject.label == "3.3.7 numba==0.66.0"
    assert subject.requirements == ("pytensor==3.3.7", "numba==0.66.0")
    assert subject.extras == ("numba==0.66.0",)
    assert subject.env_name == "observatory-py3.13-numba0.66.0"
    assert subject.commit == subjects.history.commit_of("3.3.7")
    assert subject.exclude_newer == load().find("3.3.7").exclude_newer


def test_an_extra_younger_than_the_release_moves_the_day_on(subjects):
    def answer(args, stdin):
        return '[[packages]]\nname = "numba"\nsdist = { upload-time = 2026-10-27T18:00:00Z }'

    subject = _with_uv(subjects, answer).parse("2.36.3", extras=["numba==0.68.1"])
    assert subject.exclude_newer == datetime(2026, 10, 28, 18, tzinfo=UTC)


def test_an_extra_without_a_version_is_pinned_when_it_is_read(subjects):
    def answer(args, stdin):
        if "pylock.toml" in args:
            return '[[packages]]\nname = "pymc"\nsdist = { upload-time = 2026-10-01T00:00:00Z }'
        assert stdin.split() == ["pytensor==3.3.7", "numba==0.68.0", "pymc"]
        return "numba==0.68.0\npymc==6.4.0\npytensor==3.3.7\n"

    subject = _with_uv(subjects, answer).parse("3.3.7", extras=["pymc"])
    assert subject.extras == ("pymc==6.4.0",)
    assert subject.requirements[-1] == "pymc==6.4.0"


def test_a_wheel_added_to_a_release_is_named_by_its_content(subjects, wheel):
    path = wheel("helper", "1.2")
    subject = subjects.parse("3.3.7", extras=[str(path)])
    assert subject.requirements[-1] == f"helper @ {path.as_uri()}"
    assert subject.extras[0].startswith("helper==1.2+whl.")
    assert "/" not in subject.env_name


def test_newest_asks_the_index(subjects):
    subject = _with_uv(subjects, lambda args, stdin: "pytensor==3.3.7\n").parse("newest")
    assert subject.label == "3.3.7"


def test_a_range_is_every_release_between_its_ends_on_one_python(subjects):
    read = subjects.parse_all(["2.38.3..3.0.1", "2.35.1"])
    assert [subject.label for subject in read] == ["2.38.3", "3.0.0", "3.0.1", "2.35.1"]
    assert {subject.python for subject in read} == {"3.13"}


def test_releases_without_a_common_python_get_one_each(subjects, found):
    subjects.found = Interpreters(tuple(i for i in found.interpreters if i.minor == "3.11"))
    with pytest.raises(SubjectError, match=r"3\.3\.7 needs Python 3\.12"):
        subjects.parse("3.3.7")
    assert subjects.parse("3.0.7").python == "3.11"


def test_a_free_threaded_python_is_used_only_where_it_is_named(subjects, found):
    free = Interpreter(Path("/py/3.13.0t/bin/python"), "3.13.0", free_threaded=True)
    subjects.found = Interpreters((free, *found.interpreters))
    assert subjects.parse("3.3.7").python == "3.13"
    assert subjects.parse("3.3.7", python="3.13t").python == "3.13t"
    subjects.found = Interpreters((free,))
    with pytest.raises(SubjectError, match=r"must be named: --python 3\.13t"):
        subjects.parse("3.3.7")


def test_a_python_that_the_release_cannot_use_or_that_is_not_there_is_refused(subjects):
    assert subjects.parse("3.3.7", python="3.12.1").python == "3.12"
    with pytest.raises(SubjectError, match=r"does not install on Python 3\.11"):
        subjects.parse("3.3.7", python="3.11")
    with pytest.raises(NoInterpreterError, match=r"3\.14 is not installed"):
        subjects.parse("3.3.7", python="3.14")


def test_a_wheel_is_the_same_subject_wherever_it_lies_and_another_when_it_changes(
    subjects, wheel, tmp_path
):
    path = wheel()
    moved = tmp_path / "a folder" / path.name
    moved.parent.mkdir()
    moved.write_bytes(path.read_bytes())
    one, two = subjects.parse(str(path)), subjects.parse(str(moved))
    assert (one.commit, one.date, one.label) == (two.commit, two.date, two.label)
    assert one.date == datetime(2026, 5, 4, 3, 2, tzinfo=UTC)
    assert two.requirements == (f"pytensor @ {moved.as_uri()}", "numba")
    assert subjects.parse(str(wheel(text="two"))).commit != one.commit


def test_a_commit_of_a_repository_on_disk_is_itself(subjects, tmp_path):
    repository = tmp_path / "source"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True)
    said = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    commit = said.stdout.strip()
    subject = subjects.parse(f"pytensor @ git+{repository.as_uri()}@HEAD")
    assert subject.commit == commit
    assert subject.requirements == (f"pytensor @ git+{repository.as_uri()}@{commit}", "numba")
    assert subject.exclude_newer is not None


def test_commits_of_one_second_come_in_their_order(subjects, tmp_path):
    repository = tmp_path / "source"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    for minute in (0, 0, 0, 1):
        rebased = {**os.environ, "GIT_COMMITTER_DATE": f"2026-11-20T12:0{minute}:00Z"}
        commit = [*git, "commit", "--quiet", "--allow-empty", "-m", "x"]
        subprocess.run(commit, check=True, env=rebased)
    names = [f"pytensor @ git+{repository.as_uri()}@HEAD~{n}" for n in (3, 2, 1, 0)]
    dates = [subjects.parse(name).date for name in names]
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    one = timedelta(milliseconds=1)
    assert dates == [noon, noon + one, noon + 2 * one, noon + timedelta(minutes=1)]
    assert subjects.parse(names[2]).exclude_newer == noon + timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("numpy==2", "is not a release of PyTensor"),
        ("pytensor>=3", "does not name one release"),
        ("3.1.0", "no release 3.1.0"),
        ("2.35.11", r"no release 2\.35\.11 .* \(did you mean '2\.35\.1'\?\); accepted"),
        ("3.3.7..2.35.1", "runs backwards"),
        ("2.35.1..x", "not a range"),
        ("pytensor @ git+https://localhost/x@abc", "clone the repository"),
        ("pytensor @ git+file:///nowhere/at/all@abc", "no commit 'abc'"),
        ("/nowhere/pytensor-1-py3-none-any.whl", "cannot be read"),
        ("nonsense.whl", "not that of a wheel"),
        ("3.3.7 numba~~1", "not a requirement"),
        ("3.3.7 pytensor==3.3.6", "is the subject itself"),
        ("pytensor @ git+file:///tmp@--output=/tmp/x", "no commit"),
    ],
)
def test_what_names_no_subject_is_refused_with_a_sentence(subjects, text, said):
    with pytest.raises(SubjectError, match=said):
        subjects.parse(text)


def test_a_wheel_of_another_project_is_no_subject(subjects, wheel):
    with pytest.raises(SubjectError, match="wheel of helper"):
        subjects.parse(str(wheel("helper")))


def test_one_subject_is_wanted_where_a_range_is_given(subjects):
    with pytest.raises(SubjectError, match="2 subjects; give exactly one"):
        subjects.parse("3.3.6..3.3.7")


def test_two_subjects_are_a_pair_on_one_python_and_a_range_is_no_side(subjects):
    pair = subjects.pair(["2.38.3", "3.3.7"])
    assert [(one.label, one.python) for one in pair] == [("2.38.3", "3.13"), ("3.3.7", "3.13")]
    said = r"^3\.3\.5\.\.3\.3\.6 and 3\.3\.7 are 3 subjects; give exactly two$"
    with pytest.raises(SubjectError, match=said):
        subjects.pair(["3.3.5..3.3.6", "3.3.7"])
