"""The command, its steps, the documentation and the workflows agree on what a night can do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from observatory.cli.commands import nightly
from observatory.cli.main import app
from observatory.run.night_steps import STEPS, Wishes

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "nightly.md").read_text()


def _options() -> dict[str, Any]:
    """By each of its names, as `--search` and `--no-search`."""
    commands: Any = get_command(app)
    context = commands.make_context("observatory", [], resilient_parsing=True)
    params = commands.get_command(context, "nightly").params
    return {name: one for one in params for name in (*one.opts, *one.secondary_opts)}


OPTIONS = _options()
LEFT_OUT = [name for name in STEPS if f"--no-{name}" in OPTIONS]


def table(title: str) -> dict[str, list[str]]:
    """The rows of the first table below a heading, by their first cell; links are their texts."""
    first = PAGE.partition(f"## {title}\n")[2].partition("\n|")[2].partition("\n\n")[0]
    rows = [line.strip("|").split("|") for line in first.splitlines()]
    plain = [[re.sub(r"\[(.+?)\]\(.+?\)", r"\1", cell.strip()) for cell in row] for row in rows]
    return {row[0]: row[1:] for row in plain[2:]}


def test_the_page_lists_the_steps_in_their_order() -> None:
    assert tuple(table("The steps")) == STEPS


def test_the_page_says_what_becomes_of_each_step_that_is_killed() -> None:
    listed = [step for steps in table("If it is killed, interrupted or called twice")
              for step in steps.split(", ")]  # fmt: skip
    assert sorted(listed) == sorted(STEPS)


def test_the_page_names_the_option_that_leaves_a_step_out_and_the_one_that_asks_for_it() -> None:
    for step, (_, when) in table("The steps").items():
        named = re.search(r"--[a-z-]+", when)
        assert named is None or named[0] in OPTIONS, step
        assert when.startswith(f"unless `--no-{step}`") == (step in LEFT_OUT), step
    assert len(LEFT_OUT) >= 7


def test_the_page_shows_the_longest_time_of_a_step_as_it_is_by_default() -> None:
    checked = 0
    for step, (command, when) in table("The steps").items():
        option = OPTIONS.get(f"--{step}-budget")
        if option is not None and (shown := re.search(r"--budget (\w+)", command)):
            assert shown[1] == option.default or f"`--{step}-budget" in when, step
            checked += 1
    assert checked >= 5


@pytest.mark.parametrize("step", LEFT_OUT)
def test_a_step_is_left_out_alone(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Wishes] = []

    def steps(wishes: Wishes) -> None:
        asked.append(wishes)
        raise KeyboardInterrupt

    monkeypatch.setattr(nightly, "steps", steps)
    CliRunner().invoke(app, ["nightly", f"--no-{step}", "--state", str(tmp_path)])
    assert asked[0].only == {*STEPS} - {step}


def test_a_night_takes_as_many_commits_wherever_it_runs() -> None:
    most = OPTIONS["--most"].default
    called = yaml.safe_load((ROOT / ".github/workflows/commits.yml").read_text())[True]
    assert called["workflow_call"]["inputs"]["most"]["default"] == most
    template = (ROOT / "observatory/templates/observatory.yml.j2").read_text()
    asked = template.partition("tool.uses('commits')")[2].partition("most: ")[2]
    assert int(asked.split()[0]) == most
    assert f"`--most` ({most})" in PAGE
