"""Examples of the documentation that only read: each is carried out, and its status is checked."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from observatory.cli.main import app
from observatory.text.words import listed
from tests import docs_examples, factories_asv
from tests.docs_examples import (
    Block,
    Runner,
    blocks,
    commands,
    copy_of_checkout,
    first_missing,
    mentions,
    pages,
)

pytestmark = pytest.mark.long

GUIDES = [page for page in pages() if page == "tutorial.md" or page.startswith("how-to/")]
EVERYWHERE = [*pages(), "../README.md", "../CONTRIBUTING.md"]


def executed(page: str) -> list[Block]:
    """The blocks that something is done with here, but for those that follow a measurement."""
    found, measured = [], False
    for block in blocks(page):
        if block.parts and not block.parts["not_run"]:
            measured = block.measures if block.parts["run"] else measured
            if not (block.measures or (measured and block.parts["prints"])):
                found.append(block)
    return found


def project(where: Path) -> None:
    """Results of another project: two benchmarks over 210 commits."""
    benchmarks = {
        name: {
            "name": name, "param_names": [], "params": [], "type": "time", "unit": "seconds",
            "version": "1",
        }
        for name in ("sorting.time_sort", "sorting.time_search")
    }  # fmt: skip
    factories_asv.put(where, {**benchmarks, "version": 2}, "../benchmarks.json")
    factories_asv.put(where, {"machine": "ci", "version": 1}, "machine.json")
    for number in range(210):
        wobble = 1 + number * 37 % 19 / 1000
        rows = {
            name: factories_asv.row(result=[seconds * wobble], version="1")
            for name, seconds in (("sorting.time_sort", 0.2), ("sorting.time_search", 0.01))
        }
        commit, date = f"{number:08x}{'0' * 32}", 1_700_000_000_000 + number * 86_400_000
        content = factories_asv.foreign(rows, commit_hash=commit, date=date)
        factories_asv.put(where, content, f"{commit[:8]}-virtualenv-py3.12.json")


def git(where: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *arguments], cwd=where, check=True)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout as far as examples need one: what was recorded, and the packages."""
    here = copy_of_checkout(tmp_path_factory.mktemp("docs") / "checkout")
    git(here, "init", "--quiet")
    (here / ".gitignore").write_text("__pycache__/\n")
    git(here, "add", "--all")
    git(here, "commit", "--quiet", "--message", "first")
    return here


@pytest.fixture
def runner(checkout: Path) -> Runner:
    """The same checkout for every page, as it was: what was read once need not be read again."""
    git(checkout, "checkout", "--quiet", "--", ".")
    git(checkout, "clean", "--quiet", "-d", "--force", "-x", "-e", "__pycache__")
    return Runner(checkout, {"PYTHONPATH": str(checkout)})


@pytest.mark.parametrize("page", [page for page in pages() if executed(page)])
def test_examples_do_what_the_page_says(page: str, runner: Runner) -> None:
    if page == "how-to/adopt.md":
        project(runner.where.parent / "project/.asv/results")
    for block in executed(page):
        runner.carry_out(block)


@pytest.mark.parametrize("page", GUIDES)
def test_each_script_of_a_guide_is_run_or_says_why_not(page: str) -> None:
    silent = [str(b) for b in blocks(page) if b.language in docs_examples.SCRIPTS and not b.mark]
    assert silent == []


@pytest.mark.parametrize("page", pages())
def test_every_mark_is_one_that_is_known(page: str) -> None:
    unknown = [f"{block}: {block.mark}" for block in blocks(page) if block.mark and not block.parts]
    assert unknown == []


@pytest.mark.parametrize("page", EVERYWHERE)
def test_every_command_and_option_of_an_example_exists(page: str) -> None:
    group: Any = get_command(app)
    for block in blocks(page):
        for arguments in commands(block.text):
            said = _misunderstood(group, arguments)
            assert said is None, f"{block}: observatory {' '.join(arguments)}: {said}"


@pytest.mark.parametrize("page", EVERYWHERE)
def test_every_command_and_option_that_a_sentence_names_exists(page: str) -> None:
    group: Any = get_command(app)
    with group.make_context("observatory", [], resilient_parsing=True) as context:
        for name, *words in mentions(page):
            if name == "..." or name.isupper() or name.startswith("-"):
                continue
            command = group.get_command(context, name)
            assert command is not None, f"there is no command {name}"
            known = {"--help", *(flag for one in command.params for flag in one.opts)}
            known |= {flag for one in command.params for flag in one.secondary_opts}
            named = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert named <= known, f"observatory {name} has no {listed(sorted(named - known))}"


def _misunderstood(group: Any, words: Sequence[str]) -> str | None:
    """What the command says of its arguments, without being carried out; None if nothing."""
    if any(word.startswith("[") for word in words):
        return None  # a synopsis and no call
    name, *arguments = words
    with group.make_context("observatory", [], resilient_parsing=True) as context:
        command = group.get_command(context, name)
        if command is None:
            return f"there is no command {name}"
        try:
            command.make_context(name, arguments, parent=context)
        except Exception as error:  # the types are private: typer comes with a click of its own
            return f"{type(error).__name__}: {error}"
    return None


def test_a_line_that_is_not_printed_is_found() -> None:
    assert first_missing("a  b\n...\nend ... 3", "x\n a b \ny\nend of 3") is None
    assert first_missing("b\na", "a\nb") == "a"
    assert first_missing("a.c", "abc") == "a.c"


def test_a_script_that_fails_is_told_with_its_place(tmp_path: Path) -> None:
    (block,) = blocks("page.md", "text\n\n<!-- run -->\n```sh\nfalse\ntrue\n```\n")
    with pytest.raises(AssertionError, match=r"page.md:4: the exit status is 1, not 0"):
        Runner(tmp_path).carry_out(block)


def test_an_option_that_does_not_exist_is_found() -> None:
    group = get_command(app)
    (right, wrong, unknown) = commands(
        "observatory show 3.3.7 \\\n  --metric 'cache_misses' > file || true  # a comment\n"
        "$ observatory show 3.3.7 --metrics cache_misses\n.venv/bin/observatory shows\n"
    )
    assert right == ["show", "3.3.7", "--metric", "cache_misses"]
    assert _misunderstood(group, right) is None
    assert "--metrics" in (_misunderstood(group, wrong) or "")
    assert _misunderstood(group, unknown) == "there is no command shows"
