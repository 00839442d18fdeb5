"""Every place where something of strangers is read: good contents of it, and what reads them."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from observatory.analyze.frame import frame
from observatory.app.comparison import load_comparison
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.messages import Report, read_report
from observatory.benchmarks.plan import Task
from observatory.benchmarks.typed_json import MessageError, to_json
from observatory.dashboard.site import build
from observatory.errors import ObservatoryError
from observatory.github import artifact, settings, sticky
from observatory.github.client import GitHub
from observatory.github.transport import Transport
from observatory.guard.scan.scanning import NoCacheError, scan
from observatory.numba_bound.repodata import RepodataError, releases
from observatory.run import execute, started
from observatory.run.spool import Spooled, merge
from observatory.store.asv.imported import Options, import_file
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.journal import night
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.profiles import ProfileStore
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.read import read_results
from observatory.store.records import passport
from observatory.text.comment import MARKER
from observatory.text.comment import comment as comment_of
from observatory.text.comparison.origin import Origin
from observatory.text.comparison.story import tell
from tests import factories, factories_frame, factories_scan
from tests import factories_comparison as comparisons
from tests.factories_asv import foreign, old, row
from tests.factories_numba_bound import repodata
from tests.factories_pytest_benchmark import cases, file
from tests.factories_site import observed
from tests.fake_github import BOT, REPO, TOKEN, FakeClock, FakeGitHub, Trouble
from tests.hostile import commands, records, stores
from tests.hostile.pages import check_pages
from tests.hostile.surface import Reader, Surface, committed, dumped


def _comparisons() -> list[bytes]:
    return [make().model_dump_json(by_alias=True).encode() for make in comparisons.SCENES.values()]


def _zips() -> list[bytes]:
    found = []
    for content in _comparisons()[:3]:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(artifact.COMPARISON, content)
            archive.writestr(artifact.NUMBER, b"12\n")
        found.append(stream.getvalue())
    return found


def _artifact(content: bytes, work: Path) -> None:
    found = artifact.read(content)
    origin = Origin()
    text = comment_of(found.comparison, origin)
    tell(found.comparison, origin)
    assert text.startswith(MARKER)
    assert len(text) <= 65_000


def _comparison(content: bytes, work: Path) -> None:
    (work / "comparison.json").write_bytes(content)
    comment_of(load_comparison(work / "comparison.json"), Origin())


def _results(name: str) -> Reader:
    def read(content: bytes, work: Path) -> None:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
        found = read_results(work)
        frame(found)
        [str(problem) for problem in (*found.problems, *problems_beside(work))]

    return read


def _stored(kind: type[LedgerStore] | type[ProfileStore]) -> Reader:
    def read(content: bytes, work: Path) -> None:
        store, sha = kind(work), hashlib.sha256(content).hexdigest()
        store.path(sha).parent.mkdir(parents=True, exist_ok=True)
        store.path(sha).write_bytes(gzip.compress(content, 1))
        store.load(sha)

    return read


def _unpacked(pattern: str) -> Callable[[], list[bytes]]:
    return lambda: [gzip.decompress(one) for one in committed(pattern, 4, 20_000)()]


def _record(content: bytes, work: Path) -> None:
    """What a measured process prints, and what it reports to the primitive.

    More than `started.LARGEST` bytes of what it prints are not kept.
    """
    (work / "report.json").write_bytes(content)
    with suppress(MessageError):
        read_report(work / "report.json")
    task = Task(Cell("radon", "warm_disk", "NUMBA", "fork"), "timing", 0)
    printed = content[: started.LARGEST]
    with suppress(InvalidError):
        execute._record(task, "seal", "seal " + printed.decode(errors="replace"), 0)


def _records() -> list[bytes]:
    return [
        factories.sample().model_dump_json(by_alias=True).encode(),
        to_json(Report("ok")).encode(),
    ]


@cache
def _objects() -> bytes:
    return factories_scan.object_of(
        {factories_scan.mangled("pytensor.numba_funcified_fgraph", 17): "x + 1"}
    )


def _cache_files() -> list[bytes]:
    names = ["a.py313.1.nbc", "a.py313.2.nbc"]
    return [factories_scan.index_file(names), factories_scan.data_file(_objects()), _objects()]


def _cache(content: bytes, work: Path) -> None:
    factories_scan.put(work, "a", _objects(), _objects())
    (work / "a.py313.nbi").write_bytes(content)
    _scanned(work)
    factories_scan.put(work, "a", _objects(), content)
    _scanned(work)
    (work / "a.py313.1.nbc").write_bytes(content)
    _scanned(work)


def _scanned(work: Path) -> None:
    with suppress(NoCacheError):
        scan(work)


@cache
def _forge() -> FakeGitHub:
    return FakeGitHub(FakeClock()).__enter__()


def _answers() -> list[bytes]:
    comment = {"id": 5, "node_id": "IC_5", "body": f"{MARKER}\nx", "user": BOT}
    viewer = {"data": {"viewer": {"login": BOT["login"], "databaseId": BOT["id"]}}}
    hidden = {"data": {"nodes": [{"id": "IC_5", "isMinimized": True, "minimizedReason": "x"}]}}
    fake = FakeGitHub.__new__(FakeGitHub)
    fake.pulls, fake.runs, fake.commits = {}, {}, {}
    return dumped(
        [comment],
        viewer,
        hidden,
        fake.pull(),
        fake.run(),
        {
            "artifacts": [
                {"id": 5, "name": "observatory-comparison", "size_in_bytes": 5, "expired": False}
            ]
        },
        {"check_runs": [{"id": 5, "external_id": "1"}]},
        {"message": "no", "errors": [{"message": "x"}]},
    )


def _answered(content: bytes, work: Path) -> None:
    fake = _forge()
    fake.comments.clear()
    fake._rules.clear()
    fake.pull()
    fake.run()
    status = 200 if len(content) % 3 else (422, 403, 404)[len(content) % 9 // 3]
    fake.trouble(("GET", "POST")[len(content) % 2], "", *[Trouble(status, content=content)] * 3)
    github = GitHub(Transport(fake.url, TOKEN, fake.clock), REPO)
    steps: tuple[Callable[[], object], ...] = (
        lambda: sticky.publish(github, 12, sticky.Wanted(f"{MARKER}\nx\n", (1, 1))),
        lambda: artifact.downloaded(github, artifact.run_of(github, 900), "observatory-comparison"),
        lambda: github.pull(12), github.issues, lambda: github.checks("a" * 40, "x"),
    )  # fmt: skip
    steps[len(content) % 5]()


def _bench() -> list[bytes]:
    return dumped(file(*cases("tests/a.py::test_it", {"a": 1}, {"a": 2})))


def _imported(content: bytes, work: Path) -> None:
    (work / "saved.json").write_bytes(content)
    import_file(work / "saved.json", work / "results", Options(machine="here"))


def _returned(content: bytes, work: Path) -> None:
    """What a worker of a cluster returns, and what it recorded for a run that has ended."""
    with suppress(InvalidError):
        read_json(Spooled, content)
    merge([content], work / "results")
    found = read_results(work / "results")
    assert not found.problems, found.problems


def _spooled() -> list[bytes]:
    taken = (factories.sample(), factories.failed())
    return [
        Spooled(run=factories.RUN, header=factories.header(), sample=one)
        .model_dump_json(by_alias=True)
        .encode()
        for one in taken
    ]


def _passport(content: bytes, work: Path) -> None:
    (work / passport.NAME).write_bytes(content)
    for one in passport.load(work):
        assert re.fullmatch(r"[A-Za-z0-9._-]+", one.key)
        assert isinstance(one.minor + one.processor, str)


def _passports() -> list[bytes]:
    one = passport.Passport(
        pytensor="3.3.7", numba="0.68.0", python="3.13.0", machine=("x86_64-linux", "znver4", "+a"),
        numpy_abi="0x2000000", compiler="g++ 13.2", settings={"PYTENSOR_FLAGS": "floatX=float32"},
    )  # fmt: skip
    stamps = [passport.Stamp(passports=[one]), passport.Stamp(passports=[one, one])]
    return [each.model_dump_json(by_alias=True).encode() for each in stamps]


def _night(content: bytes, work: Path) -> None:
    """The record of a night that was killed, read as the next one does."""
    (work / f"{factories.RUN}.json").write_bytes(content)
    found = night.unfinished(work, ["--preset", "quick"], factories.NOON)
    if found is not None:
        night.save(work, found.with_step(0, tries=1) if found.steps else found)


def _nights() -> list[bytes]:
    step = night.NightStep(name="run", command=["run", "--preset", "quick"], began=factories.NOON)
    after = night.NightStep(name="alerts", command=["alerts"], needs=["run"])
    one = night.Night(
        id=factories.RUN, asked=["--preset", "quick"], results="results",
        started_at=factories.NOON, steps=[step, after],
    )  # fmt: skip
    return [one.model_dump_json(by_alias=True).encode()]


def _page(content: bytes, work: Path) -> None:
    """Build pages of results in which each name and text of a stranger is the content."""
    text = content[:2_000].decode(errors="replace")
    rows = factories_frame.release_rows("3.3.7", subject=text, machine=text)
    rows = rows[:10]  # more rows are more work, and no further kind of page
    for each in rows:
        each["numba"] = each["backend"] = text
    build(observed(factories_frame.as_frame(rows), (text,)), work / "html")
    check_pages(work / "html")


_PAGE_TEXTS = (
    "</title><script>executed()</script>\"'>", "<img src=x onerror=executed()>",
    "javascript:executed()", "{{ 7 * 7 }}{% raw %}", "</script><!--", "a\u2028b\u202ec", "3.3.7",
    "results/x.json: cut off",
)  # fmt: skip


def _channel(content: bytes, work: Path) -> None:
    """The index of a conda channel, in pieces of an odd size."""
    try:
        found = releases(content[at : at + 999] for at in range(0, len(content), 999))
    except RepodataError as error:
        raise ObservatoryError(str(error)) from error
    assert not any(version.is_prerelease for version in found)


def _settings(content: bytes, work: Path) -> None:
    (work / "observatory.toml").write_bytes(content)
    settings.load(work / "observatory.toml")


def _journals() -> list[bytes]:
    return [
        b"\n".join(one.splitlines()[:6]) for one in committed("samples/*/*.jsonl", 4, 4_000_000)()
    ]


_SETTINGS = b"[comment]\ncheck = 'neutral'\n[issues]\nlabels = ['a']\n"
_ACK = (
    b'[[acknowledged]]\nid = "3fa0c1d2e4"\nwho = "Ada"\nwhy = "x"\nat = 2026-11-20T09:12:00Z\n'
    b"until = 2026-12-20T00:00:00Z\n"
)
_ASV = [foreign({"it": [[1.5]], "many": row(result=[1.0, None], params=[["1", "2"]])}),
        old({"bare": 1.5, "timed": {"result": [1.0]}})]  # fmt: skip
_JOURNAL = f"samples/here/{'0' * 8}-observatory-py3.13.jsonl"

SURFACES: dict[str, Surface] = {
    "artifact of a pull request (zip)": Surface(_zips, _artifact),
    "comparison in it": Surface(_comparisons, _artifact),
    "saved comparison": Surface(_comparisons, _comparison),
    "result file of asv": Surface(lambda: dumped(*_ASV) + committed("*/*-py*.json", 2)(),
                                  _results("ci/c0ffee00-x.json")),
    "benchmarks.json": Surface(committed("benchmarks.json", 1, 10**7), _results("benchmarks.json")),
    "journal": Surface(_journals, _results(_JOURNAL)),
    "ledger": Surface(_unpacked("ledgers/*/*.gz"), _stored(LedgerStore)),
    "profile": Surface(_unpacked("profiles/*/*.gz"), _stored(ProfileStore)),
    "alerts.json": Surface(committed("alerts.json", 1, 10**7), _results("alerts.json")),
    "acknowledgement": Surface(lambda: [_ACK, _ACK * 3], _results("triage.toml")),
    **records.SURFACES,
    "cache passport": Surface(_passports, _passport),
    "record of a night": Surface(_nights, _night),
    "sample of a worker": Surface(_spooled, _returned),
    "names and texts in pages": Surface(lambda: [t.encode() for t in _PAGE_TEXTS], _page),
    "pytest-benchmark": Surface(_bench, _imported),
    "index of a conda channel": Surface(lambda: [repodata("0.68.0", "0.69.0rc1")], _channel),
    "observatory.toml": Surface(lambda: [_SETTINGS], _settings),
    "record of a measured process": Surface(_records, _record),
    "cache files": Surface(_cache_files, _cache),
    "answers of a forge": Surface(_answers, _answered),
    "object store": stores.SURFACE,
    "command lines": commands.SURFACE,
}  # fmt: skip
