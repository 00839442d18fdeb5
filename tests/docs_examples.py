"""The examples of the documentation: what is in it, and how it is carried out. For tests only.

A comment before a fenced block says what becomes of it::

    <!-- run -->                        a script; its exit status must be 0
    <!-- run: status 7 -->              a script; this must be its exit status
    <!-- run: measures, status 7 -->    the same; with the integration tests only
    <!-- not run: WHY -->               a script that no test runs
    <!-- prints -->                     what the script before it prints, among other lines: each
                                        line in order, "..." for anything, blanks for any blanks
    <!-- file: PATH -->                 written to that file
    <!-- applies -->                    a patch, applied with git

The blocks of a page are carried out in order in one directory. A script is run by sh, where a
script that fails before its end has failed. A block of Python is a cell of one notebook: it finds
the names that the cells before it have made.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COPIED = ("results", "benchmarks", "observatory", "dashboard", "tests/unit/benchmarks")
SCRIPTS = ("sh", "console", "bash", "python")
_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?"
    r"(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?\n?)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_SUBJECT = re.compile(r"--subject (\S+)")
_MARK = re.compile(
    r"(?P<not_run>not run: (?P<why>.+))|(?P<run>run)(: (?P<options>.+))?|(?P<prints>prints)"
    r"|file: (?P<file>\S+)|(?P<applies>applies)"
)


@dataclass(frozen=True)
class Block:
    """One fenced block and its mark; which is empty if there is none."""

    page: str
    line: int
    language: str
    text: str
    mark: str = ""

    @property
    def parts(self) -> re.Match[str] | None:
        """The mark, taken apart; None if it is none that is known."""
        return _MARK.fullmatch(self.mark)

    @property
    def options(self) -> dict[str, str]:
        """The options of a script that is run: ``measures``, ``status``."""
        found = self.parts
        words = (found["options"] or "").split(", ") if found else []
        return dict((*word.split(), "")[:2] for word in words if word)  # type: ignore[misc]

    @property
    def measures(self) -> bool:
        return "measures" in self.options

    @property
    def status(self) -> int:
        return int(self.options.get("status", "0"))

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """Every page, by its path below docs/; what is made by a script has no examples."""
    found = (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    return sorted(str(path) for path in found if path.parts[0] not in ("reference", "theme"))


def copy_of_checkout(into: Path, names: Iterable[str] = COPIED) -> Path:
    """Copy what examples need of this checkout, with what is compiled.

    Another worker may be compiling meanwhile. It writes a temporary file, which may be gone before
    it is copied, and replaces the compiled one by it at once.
    """
    temporary = shutil.ignore_patterns("*.pyc.*")
    for name in names:
        shutil.copytree(ROOT / name, into / name, symlinks=True, ignore=temporary)
    return into


def blocks(page: str, text: str | None = None) -> list[Block]:
    """The fenced blocks of a page, in order."""
    content = (DOCS / page).read_text() if text is None else text
    return [
        Block(page, content.count("\n", 0, match.start("fence")) + 1, match["language"].strip(),
              match["text"], match["mark"] or "")
        for match in _BLOCK.finditer(content)
    ]  # fmt: skip


def measured_subjects(page: str) -> list[str]:
    """The subjects that the scripts of a page measure, in order."""
    scripts = (block.text for block in blocks(page) if block.measures)
    return list(dict.fromkeys(name for text in scripts for name in _SUBJECT.findall(text)))


def build(out: Path, root: Path = ROOT) -> str:
    """Build the site as `make docs` does; what was said if it failed, else nothing.

    Not with --quiet: what is not told is not counted either, and --strict lets it pass.
    """
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=root, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stdout


def commands(text: str) -> Iterator[list[str]]:
    """What is given to `observatory` where a block calls it, continued lines joined."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if found := re.match(r"\s*(?:\$ )?(?:\.venv/bin/)?observatory (.*)", line):
            words = shlex.shlex(found[1], posix=True, punctuation_chars=True)
            words.whitespace_split = True
            yield list(takewhile(lambda word: not set(word) <= set("();<>|&"), words))


def mentions(page: str) -> Iterator[list[str]]:
    """What is given to `observatory` where a sentence or a table of a page names a call."""
    text = re.sub(r"^ *```.*?^ *```", "", (DOCS / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for found in re.findall(r"`observatory ([^`]+)`", text):
        yield found.replace("\\|", "|").split()


@dataclass
class Runner:
    """Carries out the blocks of one page in one directory."""

    where: Path
    env: dict[str, str] = field(default_factory=dict)
    timeout: float = 600.0
    output: str = ""
    """What the last script printed."""
    names: dict[str, Any] = field(default_factory=dict)
    """What the cells of the page have made."""

    def carry_out(self, block: Block) -> None:
        """Do what the mark says; an AssertionError names the place in the page."""
        found = block.parts
        assert found, f"{block}: nothing is known of the mark {block.mark!r}"
        if found["run"]:
            self._run(block)
        elif found["prints"]:
            missing = first_missing(block.text, self.output)
            assert missing is None, f"{block}: {missing!r} is not printed:\n{self.output}"
        elif found["file"]:
            path = self.where / found["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif found["applies"]:
            done = self._start(["git", "apply", "--whitespace=nowarn", "-"], block.text)
            assert done.returncode == 0, f"{block}: the patch does not apply:\n{done.stdout}"

    def _run(self, block: Block) -> None:
        if block.language == "python":
            with contextlib.chdir(self.where), contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block.text, str(block), "exec"), self.names)
            self.output = printed.getvalue()
            return
        done = self._start(["sh", "-e"], block.text)
        self.output = done.stdout
        assert done.returncode == block.status, (
            f"{block}: the exit status is {done.returncode}, not {block.status}:\n{done.stdout}"
        )

    def _start(self, command: list[str], given: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # These tests may themselves run beside others, where pytest-benchmark measures nothing.
        outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        variables = {**outside, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", **self.env}
        return subprocess.run(
            command, input=given, cwd=self.where, env=variables, text=True, timeout=self.timeout,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip


def first_missing(wanted: str, output: str) -> str | None:
    """The first line that is not in the output after those before it; None if all are."""
    lines = iter(plain(line) for line in output.splitlines())
    for line in wanted.splitlines():
        words = plain(line)
        if words in ("", "..."):
            continue
        pattern = ".*".join(map(re.escape, re.split(r" ?\.\.\. ?", words)))
        if not any(re.fullmatch(pattern, other) for other in lines):
            return line
    return None


def plain(line: str) -> str:
    """A line with one blank for any, and none at its ends."""
    return " ".join(line.split())
