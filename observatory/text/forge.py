"""Where a project's code is shown: its name, and the addresses of its commits, tags and ranges.

Only what exists there gets an address. The commits of releases are those of a history that the
observatory makes, which no forge has: releases are tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from observatory.store.asv.config import AsvConfig
from observatory.store.base.releases import is_release, tag_of
from observatory.text.plain import clean, shorten

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_PINNED = re.compile(r"[\w.-]+==[\w.+!-]+")
_HTTP = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+")
_SSH = re.compile(r"(?:ssh://)?git@([A-Za-z0-9.-]+)[:/]([A-Za-z0-9._/-]+)")
_LONGEST_NAME = 60
_LONGEST_BODY = 6000
"""Characters of an issue's text that an address may carry: servers refuse longer ones."""
_BODIES = {False: "body", True: "description"}
"""What GitHub and Codeberg, and what GitLab calls the text of an issue."""


@dataclass(frozen=True)
class Forge:
    """The addresses of a project; each is empty if it is not known."""

    name: str = ""
    homepage: str = ""
    repository: str = ""
    commit: str = ""
    """The hash of a commit is appended."""
    compare: str = ""
    """Two commits or tags with three dots between them are appended."""
    tag: str = ""
    """The name of a tag is appended."""
    issues: str = ""
    """The address of a new issue; a query is appended."""
    triage: str = ""
    """The address of a form for a new file among the acknowledgements; a query is appended."""

    def of(self, label: str, commit: str) -> str:
        """The address of a subject: of its tag or commit; empty if there is none."""
        ref = ref_of(label, commit)
        base = self.commit if ref == commit else self.tag
        return f"{base}{ref}" if base and ref else ""

    def between(self, base: tuple[str, str], head: tuple[str, str]) -> str:
        """The address of what changed between two subjects, each a label and a commit."""
        refs = ref_of(*base), ref_of(*head)
        return f"{self.compare}{refs[0]}...{refs[1]}" if self.compare and all(refs) else ""

    def pull_request(self, number: int) -> str:
        """The address of a pull request; empty if there is none."""
        pulls = {"github.com": "pull/", "gitlab.com": "-/merge_requests/"}
        host = self.repository.removeprefix("https://").partition("/")[0]
        return f"{self.repository}/{pulls[host]}{number}" if host in pulls else ""

    def new_issue(self, title: str, body: str) -> str:
        """The address of a form that is filled in already; empty if there is none."""
        if not self.issues:
            return ""
        kind = "issue[{}]" if "/-/" in self.issues else "{}"
        title_name, body_name = kind.format("title"), kind.format(_BODIES["/-/" in self.issues])
        return f"{self.issues}?{urlencode({title_name: title, body_name: body[:_LONGEST_BODY]})}"

    def new_file(self, name: str, content: str) -> str:
        """The address of a form for a new file, filled in, to commit; empty if there is none."""
        if not self.triage:
            return ""
        return f"{self.triage}?{urlencode({'filename': name, 'value': content})}"


def ref_of(label: str, commit: str) -> str:
    """What the project's repository calls a subject: a tag, a hash, or empty if it has neither.

    >>> ref_of("3.3.8", "90de0405" * 5), ref_of("3.3.7 numba==0.66.0", "aa" * 20)
    ('rel-3.3.8', 'rel-3.3.7')
    >>> ref_of("90de0405", "90de0405" * 5)[:8], ref_of("3.3.7+whl.0a1b2c3d", "aa" * 20)
    ('90de0405', '')
    """
    word = label.partition(" ")[0]
    if is_release(word):
        # A release that was imported without its commit: how its project names tags is unknown.
        return tag_of(word) if _COMMIT.fullmatch(commit) else ""
    return commit if _COMMIT.fullmatch(word) and commit.startswith(word) else ""


def is_release_with_pins(label: str) -> bool:
    """Whether a label is that of a release, as `observatory compare` takes it.

    >>> is_release_with_pins("3.3.8 numba==0.66.0"), is_release_with_pins("3.3.8+whl.0a1b2c3d")
    (True, False)
    """
    release, *more = label.split(" ")
    return is_release(release) and are_pins(more)


def are_pins(words: Iterable[str]) -> bool:
    """Whether each word names a package and its version, as in ``numba==0.66.0``."""
    return all(map(_PINNED.fullmatch, words))


def forge_of(config: AsvConfig, given: Mapping[str, str] | None = None) -> Forge:
    """The addresses that follow from an asv configuration; ``given`` ones (by name) come first.

    The project's name is among them; without any it is that of the repository.
    """
    given = {name: url for name, url in (given or {}).items() if url}
    commit = given.get("commit") or _secure(config.show_commit_url)
    repository = _web(config.repo)
    if not repository and commit.endswith("/commit/"):
        repository = commit.removesuffix("/commit/").removesuffix("/-")
    name = given.pop("name", "") or config.project or repository.rpartition("/")[2]
    gitlab = repository.startswith("https://gitlab.")
    base = f"{repository}/-" if gitlab else repository
    known = repository and repository.partition("://")[2].partition("/")[0] in _FORGES
    made = Forge(
        name=shorten(clean(name), _LONGEST_NAME), homepage=_secure(config.project_url),
        repository=repository, commit=commit or (f"{base}/commit/" if known else ""),
    )  # fmt: skip
    if known:
        tag = f"{base}/tags/" if gitlab else f"{base}/releases/tag/"
        made = Forge(
            made.name, made.homepage, repository, made.commit, f"{base}/compare/", tag,
            f"{base}/issues/new",
        )  # fmt: skip
    return Forge(**{**made.__dict__, **given})


_FORGES = ("github.com", "gitlab.com", "codeberg.org")
"""Hosts whose addresses are known to be made in this way."""


def _web(repo: str) -> str:
    """The address of a repository for browsers; empty for a path or an unknown protocol."""
    if found := _SSH.fullmatch(repo):
        repo = f"https://{found[1]}/{found[2]}"
    return _secure(repo).removesuffix("/").removesuffix(".git")


def _secure(url: str) -> str:
    """The address with https; empty if it is not one. Forges answer http by sending to https."""
    return re.sub("^http://", "https://", url) if _HTTP.fullmatch(url) else ""
