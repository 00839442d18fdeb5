"""The command as people call it: what it writes, what it says, and its exit statuses."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.version import Version

from observatory.numba_bound import command as module
from observatory.numba_bound.plan import write
from observatory.numba_bound.releases import Channel
from observatory.numba_bound.status import Status, UnsafeError
from observatory.text.comment import MARKER
from tests.factories_numba_bound import PYPROJECT, FakeUv

SCRIPT = Path(__file__).parents[3] / "scripts" / "bump_numba_upper_bound.py"
DONE = PYPROJECT.replace("numba>=0.58,<=0.66.0", "numba>=0.58,<=0.68.1")


@dataclass
class Called:
    status: Status
    out: str
    err: str
    content: str


class Call:
    """Calls the command on a file below a temporary directory."""

    def __init__(self, directory: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.path, self.capture = directory / "pyproject.toml", capture
        self.uv = FakeUv()
        self.commands: list[list[str]] = []
        self.statuses: dict[str, int | None] = {}

    def __call__(self, *args: str, text: str | None = PYPROJECT) -> Called:
        if text is not None:
            self.path.write_text(text)
        status = module.main([str(self.path), *args], self.uv, self._run)
        said = self.capture.readouterr()
        return Called(status, said.out, said.err, self.path.read_text())

    def _run(self, command: Sequence[str], limit: float) -> int | None:
        assert limit == 3600.0
        self.commands.append(list(command))
        name = command[3]
        if name == "compare":
            written = Path(command[command.index("--markdown") + 1])
            written.write_text(f"{MARKER}\n### What the comparison says\n")
        return self.statuses.get(name, 0)


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    return Call(tmp_path, capsys)


def test_it_rewrites_every_pin_and_says_what_and_why(call: Call) -> None:
    called = call()
    assert (called.status, called.content, called.err) == (Status.DONE, DONE, "")
    assert "numba 0.68.1: the newest final release with a wheel" in called.out
    assert "project.dependencies[1], line 6: numba>=0.58,<=0.66.0 -> numba>=0.5" in called.out
    assert called.out.endswith("pyproject.toml: 2 pins rewritten\n")


def test_a_second_run_changes_nothing(call: Call) -> None:
    call()
    called = call(text=None)
    assert (called.status, called.content) == (Status.DONE, DONE)
    assert called.out.endswith("nothing to rewrite\n")


def test_check_writes_nothing_and_tells_the_two_cases_apart(call: Call) -> None:
    called = call("--check")
    assert (called.status, called.content) == (Status.DUE, PYPROJECT)
    assert called.out.endswith("2 pins would be rewritten\n")
    assert call("--check", text=DONE).status is Status.DONE


def test_check_finds_a_pin_due_that_is_only_spelled_in_another_way(call: Call) -> None:
    text = DONE.replace('["numba>=0.58,<=0.68.1"', "['numba>=0.58,<=0.68.1'")
    called = call("--check", text=text)
    assert (called.status, called.content) == (Status.DUE, text)
    assert "it means the same; the quotes become canonical" in called.out
    assert call(text=text).content == DONE


def test_a_channel_that_is_behind_decides(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    has = frozenset({Version("0.66.0"), Version("0.68.0")})
    monkeypatch.setattr(Channel, "versions", lambda *_: has)
    called = call("--conda", "https://conda.example.org/forge")
    assert (called.status, called.content) == (Status.DONE, DONE.replace("0.68.1", "0.68.0"))
    assert "the channel at conda.example.org both have; the newest of all is 0.68.1" in called.out
    assert call("--conda", "https://conda.example.org/forge", text=DONE).status is Status.LEFT


def test_a_release_can_be_chosen_that_is_not_the_newest(call: Call) -> None:
    called = call("--to", "0.68.0")
    assert called.status is Status.DONE
    assert called.content == DONE.replace("0.68.1", "0.68.0")
    assert "chosen by --to; the newest is 0.68.1" in called.out


@pytest.mark.parametrize("options", [("--to", "0.66.0"), ("--to", "0.66.0", "--check")])
def test_a_bound_is_never_lowered(call: Call, options: tuple[str, ...]) -> None:
    called = call(*options, text=DONE)
    assert (called.status, called.content) == (Status.LEFT, DONE)
    assert called.out.count("a bound is never lowered") == 2


def test_a_pin_that_lets_in_what_is_published_is_not_lowered(call: Call) -> None:
    text = PYPROJECT.replace("<=0.66.0", "<1")
    called = call("--to", "0.66.0", text=text)
    assert (called.status, called.content) == (Status.LEFT, text)
    assert "it allows numba 0.68.1, which is newer than 0.66.0" in called.out


def test_where_one_pin_is_left_the_others_are_rewritten(call: Call) -> None:
    called = call(text=PYPROJECT.replace('["numba>=0.58,<=0.66.0"', '["numba>=0.58,<=0.70.0"'))
    assert called.status is Status.DONE
    assert '"numba>=0.58,<=0.68.1",  #' in called.content
    assert '["numba>=0.58,<=0.70.0"' in called.content


def test_a_release_that_a_pin_excludes_is_not_proposed(call: Call) -> None:
    called = call(text=PYPROJECT.replace("<=0.66.0", "!=0.68.1,<=0.66.0"))
    assert called.status is Status.DONE
    assert called.content.count('"numba>=0.58,<=0.68.0,!=0.68.1"') == 2


def test_a_lower_bound_is_given_where_there_is_none(call: Call) -> None:
    text = PYPROJECT.replace(">=0.58,<=0.66.0", "")
    assert '"numba>=0.60,<=0.68.1"' in call("--lower", "0.60", text=text).content
    called = call(text=text)
    assert '"numba<=0.68.1"' in called.content
    assert "note: it has no lower bound; `--lower" in called.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[project]\ndependencies = []\n", "no list of requirements in it names numba"),
        ("tool.pixi.dependencies.numba = '*'", "not a list of requirements: tool.pixi.dep"),
        ("[project]\ndynamic = ['dependencies']", "its dependencies are dynamic, so another file"),
    ],
)  # fmt: skip
def test_a_file_without_a_pin_has_a_status_of_its_own(call: Call, text: str, said: str) -> None:
    called = call(text=text)
    assert (called.status, called.content) == (Status.NO_PIN, text)
    assert said in called.err
    assert call.uv.asked == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[project", "pyproject.toml: it is not valid TOML"),
        (PYPROJECT.replace("<=0.66.0", "<="), "is not a requirement that pip understands"),
        (PYPROJECT.replace(">=3.12,<3.15", "three"), "requires-python is 'three'"),
    ],
)
def test_a_file_that_is_not_understood_is_left_as_it_was(call: Call, text: str, said: str) -> None:
    called = call(text=text)
    assert (called.status, called.content) == (Status.NOT_SAFE, text)
    assert said in called.err
    assert called.err.endswith("nothing was rewritten\n")


def test_a_file_that_is_not_there_or_none_is_a_sentence(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path / "nowhere.toml", tmp_path):
        assert module.main([str(path)], call.uv) is Status.NOT_SAFE
        assert "there is no such file" in capsys.readouterr().err


def test_an_index_without_an_answer_has_a_status_of_its_own(call: Call) -> None:
    called = call("--to", "0.67.0")
    assert (called.status, called.content) == (Status.NO_ANSWER, PYPROJECT)
    assert "the package index has no numba 0.67.0" in called.err
    call.uv.wheels = {}
    assert call().status is Status.NO_ANSWER


@pytest.mark.parametrize(
    "options",
    [
        ("--to", "new"), ("--to", "0.69.0rc1"), ("--lower", "x"), ("--judge-minutes", "0"),
        ("--conda", "file:///etc"), ("--check", "--judge"), ("--check", "--pull-request", "x"),
        ("--subject", "3.3.7"), ("--nonsense",),
    ],
)  # fmt: skip
def test_a_command_that_is_not_understood_ends_with_status_2(
    call: Call, options: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as error:
        call(*options)
    assert error.value.code == Status.USAGE
    assert "Traceback" not in call.capture.readouterr().err


def test_the_mode_of_the_file_stays_and_a_link_stays_a_link(call: Call, tmp_path: Path) -> None:
    real = tmp_path / "real" / "pyproject.toml"
    real.parent.mkdir()
    real.write_text(PYPROJECT)
    real.chmod(0o640)
    call.path.symlink_to(real)
    before = real.stat().st_ino
    assert call(text=None).status is Status.DONE
    assert call.path.is_symlink()
    assert real.read_text() == DONE
    assert real.stat().st_ino != before  # replaced in one step, not written over
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [path.name for path in real.parent.iterdir()] == ["pyproject.toml"]


def test_an_edit_made_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"by somebody else")
    with pytest.raises(UnsafeError, match="somebody changed it in the meantime"):
        write(path, b"as it was read", b"as it should be")
    assert path.read_bytes() == b"by somebody else"
    assert list(tmp_path.iterdir()) == [path]


def test_judges_are_asked_before_anything_is_written(call: Call, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    called = call("--judge", "--subject", "3.3.7", "--pull-request", str(text))
    assert (called.status, called.content) == (Status.DONE, DONE)
    tool = [sys.executable, "-m", "observatory"]
    assert [command[:3] for command in call.commands] == [tool] * 3
    assert [command[3] for command in call.commands] == ["contracts", "canary", "compare"]
    assert call.commands[2][4:6] == ["3.3.7 numba==0.66.0", "3.3.7 numba==0.68.1"]
    told = text.read_text()
    assert told.startswith("Bump numba upper bound to <=0.68.1\n\n")
    assert "### What the comparison says" in told
    assert "canary: good: all processes" in called.out


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ({"contracts": 11}, Status.NOT_JUDGED),  # as broken with the old numba
        ({"compare": 7}, Status.DO_NOT_MERGE),
        ({"compare": 5, "canary": 8}, Status.DO_NOT_MERGE),
        ({"compare": 8}, Status.NOT_JUDGED),
        ({"canary": None}, Status.NOT_JUDGED),
    ],
)
def test_the_verdict_shows_in_the_status_and_first_in_the_text(
    call: Call, tmp_path: Path, statuses: dict[str, int | None], status: Status
) -> None:
    call.statuses = statuses
    text = tmp_path / "text.md"
    called = call("--judge", "--pull-request", str(text))
    assert (called.status, called.content) == (status, DONE)
    forbidden = status is Status.DO_NOT_MERGE
    assert text.read_text().startswith("Do not merge: ") is forbidden


def test_the_old_numba_is_that_of_the_main_dependency(call: Call) -> None:
    text = PYPROJECT.replace('"numba>=0.58,<=0.66.0",  #', '"numba>=0.58,<0.69",  #')
    call("--judge", text=text)
    assert [command[3] for command in call.commands] == ["contracts", "canary"]  # 0.68.1 both
    call.commands.clear()
    text = PYPROJECT.replace('["numba>=0.58,<=0.66.0"', '["numba"')
    call("--judge", text=text)
    assert call.commands[2][4] == "newest numba==0.66.0"


def test_nothing_is_measured_or_proposed_where_nothing_is_due(call: Call, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    called = call("--judge", "--pull-request", str(text), text=DONE)
    assert (called.status, call.commands, text.exists()) == (Status.DONE, [], False)
    assert called.out.endswith("nothing to rewrite, nothing to propose\n")


def test_a_text_that_cannot_be_written_stops_everything(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    called = call("--pull-request", str(tmp_path / "file" / "text.md"))
    assert (called.status, called.content) == (Status.NOT_SAFE, PYPROJECT)


def test_handlers_of_signals_are_put_back(call: Call) -> None:
    before = signal.getsignal(signal.SIGTERM)
    call()
    assert signal.getsignal(signal.SIGTERM) is before


def script(*args: str | Path, directory: Path) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own, from any directory."""
    return subprocess.run(
        [sys.executable, SCRIPT, *args], cwd=directory, capture_output=True, text=True, check=False
    )


def test_help_lists_every_option_and_exit_status(tmp_path: Path) -> None:
    done = script("--help", directory=tmp_path)
    assert done.returncode == 0
    for status in Status:
        assert f"{status.value}  {status.meaning[:40]}" in done.stdout
    for option in ("--check", "--to", "--lower", "--conda", "--pull-request", "--judge"):
        assert option in done.stdout


def test_the_script_is_an_entry_of_the_package(tmp_path: Path) -> None:
    helps = {
        subprocess.run(
            [sys.executable, *entry, "--help"], cwd=tmp_path, capture_output=True, check=True
        ).stdout
        for entry in (("-m", "observatory.numba_bound"), (str(SCRIPT),))
    }
    assert len(helps) == 1
    assert b"usage: python -m observatory.numba_bound " in helps.pop()


def test_the_exit_status_is_that_of_the_process(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    done = script(directory=tmp_path)
    assert (done.returncode, done.stdout) == (Status.NO_PIN, "")
    assert done.stderr.startswith("error: pyproject.toml: no list of requirements")


def test_numbers_are_distinct_and_none_means_something_else_to_the_observatory() -> None:
    from observatory.errors import Exit

    shared = {0, 1, 2, 130}
    assert {int(s) for s in Status} & {int(e) for e in Exit} == shared


def test_the_documentation_lists_every_status() -> None:
    told = (SCRIPT.parents[1] / "docs" / "numba-bound.md").read_text().replace("`", "")
    for status in Status:
        assert f"| {status.value} | {status.meaning} |" in told


STAND_IN = """#!{python}
import pathlib, sys, time
here = pathlib.Path(__file__).parent
if sys.argv[1] == "contracts":
    (here / "begun").touch()
    time.sleep(60)
"""


def test_an_interrupted_judge_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    tool = tmp_path / "observatory"
    tool.write_text(STAND_IN.format(python=sys.executable))
    tool.chmod(0o755)
    path = tmp_path / "pyproject.toml"
    path.write_text(PYPROJECT)
    begin = (
        "import sys; from observatory.numba_bound.command import main; "
        "from tests.factories_numba_bound import FakeUv; sys.exit(main(sys.argv[1:], FakeUv()))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", begin, path, "--judge", "--observatory", tool],
        cwd=SCRIPT.parents[1], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])},
    )  # fmt: skip
    ends = time.monotonic() + 300
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < ends
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert process.returncode == Status.INTERRUPTED
    assert said.endswith("error: interrupted; nothing was rewritten\n")
    assert path.read_text() == PYPROJECT
