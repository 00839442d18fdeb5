from datetime import UTC, datetime, timedelta

import pytest
from fakes import FakeUv, option
from packaging.version import Version

from observatory.run.releases import ReleasesError, ReleaseTable, describe, extended, load
from observatory.run.uv import Index, UvError


def test_the_committed_table_is_valid_and_names_the_milestones():
    table = load()
    assert table.releases[0].version == "2.34.0"
    assert table.find("3.3.8") in table.releases[36:]
    assert Version(table.newest.version) == max(Version(one.version) for one in table.releases)
    milestones = {release.version for release in table.releases if release.note}
    assert {"2.36.0", "2.36.2", "2.36.3", "2.37.0", "2.38.3", "3.1.1", "3.3.4"} <= milestones


def test_every_release_names_its_numba_and_a_day_after_its_upload():
    for release in load().releases:
        assert release.requirements == (f"pytensor=={release.version}", f"numba=={release.numba}")
        assert release.exclude_newer - release.uploaded == timedelta(days=1)


def test_the_release_without_a_numba_of_its_own_gets_the_numba_of_its_day():
    assert load().find("2.35.1").numba == "0.62.1"


def test_a_range_holds_both_ends_in_order_of_version():
    versions = [release.version for release in load().between("2.38.3", "3.0.1")]
    assert versions == ["2.38.3", "3.0.0", "3.0.1"]


@pytest.mark.parametrize(
    ("ends", "said"),
    [(("3.0.0", "2.38.3"), "runs backwards"), (("3.1.0", "3.3.7"), "3.1.0 is not known")],
)
def test_a_range_that_makes_no_sense_is_refused_with_a_sentence(ends, said):
    with pytest.raises(ReleasesError, match=said):
        load().between(*ends)


def test_a_table_that_is_not_valid_names_the_place():
    text = load().to_json().replace('"2.34.0"', '"2.34.0; rm"')
    with pytest.raises(ReleasesError, match=r"releases\.0\.version"):
        load(text)


def test_a_table_out_of_order_or_with_a_release_twice_is_refused():
    releases = load().releases
    with pytest.raises(ReleasesError, match="order"):
        ReleaseTable(releases[::-1])
    with pytest.raises(ReleasesError, match="twice"):
        ReleaseTable((releases[0], releases[0]))


def test_writing_and_reading_the_table_changes_nothing():
    assert load(load().to_json()) == load()


class _FakeIndex(FakeUv):
    """An index with a few releases; numba has wheels for Python 3.12 and 3.13 only."""

    def __init__(self, uploads: dict[str, str]) -> None:
        self.uploads = uploads
        super().__init__(self._answer)

    def _answer(self, args: tuple[str, ...], stdin: str) -> str:
        if "pylock.toml" in args:
            date = self.uploads[stdin.partition("==")[2]]
            return (
                f'[[packages]]\nname = "pytensor"\nsdist = {{ upload-time = {date} }}\n'
                "wheels = [{ upload-time = 2020-01-01T00:00:00Z }]\n"
            )
        if "--no-deps" in args:
            bound = stdin.partition("<")[2]
            fitting = [v for v in self.uploads if not bound or v < bound]
            if not fitting:
                raise UvError("uv pip compile", "No solution found when resolving dependencies")
            return f"pytensor=={max(fitting)}\n"
        if option(args, "--python-version") not in ("3.12", "3.13"):
            raise UvError("uv pip compile", "No solution found")
        assert ":all:" in args
        return "numba==0.70.0\nllvmlite==0.50.0\n"


def test_a_release_is_dated_by_its_source_distribution_and_tried_on_every_python():
    uv = _FakeIndex({"9.0.0": "2027-01-02T03:04:05.678Z"})
    release = describe("9.0.0", Index(uv))
    assert release.uploaded == datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert release.numba == "0.70.0"
    assert release.pythons == ("3.12", "3.13")
    dates = {option(args, "--exclude-newer") for args, _ in uv.asked} - {None}
    assert dates == {"2027-01-03T03:04:05Z"}


def test_extending_appends_in_order_of_upload_and_leaves_known_entries_alone():
    known = load()
    uploads = {r.version: r.uploaded.isoformat() for r in known.releases}
    uploads |= {"4.0.0": "2027-02-01T00:00:00Z", "3.4.0": "2027-03-01T00:00:00Z"}
    uploads["3.3.9"] = "2027-01-01T00:00:00Z"
    after = extended(known, Index(_FakeIndex(uploads)))
    assert after.releases[:-3] == known.releases
    assert [release.version for release in after.releases[-3:]] == ["3.3.9", "4.0.0", "3.4.0"]


def test_a_release_that_was_missed_in_the_past_is_not_slipped_in():
    known = load()
    uploads = {r.version: r.uploaded.isoformat() for r in known.releases}
    uploads["3.1.0"] = "2026-07-01T00:00:00Z"
    with pytest.raises(ReleasesError, match="cannot be appended"):
        extended(known, Index(_FakeIndex(uploads)))


def test_an_index_that_does_not_answer_is_an_error_and_not_an_empty_index(silent_uv):
    with pytest.raises(UvError):
        extended(load(), Index(silent_uv))
