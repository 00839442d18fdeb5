"""The parts of GitHub's answers that are used; other fields are ignored.

Fields that GitHub leaves empty are optional: deleted accounts, deleted forks, empty texts.
"""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from observatory.store.base.moments import Moment

_Entry = TypeVar("_Entry")
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
Address = Annotated[str, Field(pattern=r"^https?://[^\s()<>\[\]]+$", max_length=2000)]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class User(_Answer):
    """An account: a person, an organisation or an app's bot."""

    id: int
    login: str


class Viewer(_Answer):
    """The account of a token. GraphQL has it for every kind of token; REST's `/user` has not."""

    login: str
    id: int | None = Field(None, alias="databaseId", description="the same as in REST")

    def wrote(self, author: User | None) -> bool:
        """Whether this account is the author. The id decides, because names can change hands."""
        if author is None:
            return False
        return author.login == self.login if self.id is None else author.id == self.id


class Repository(_Answer):
    """A repository or a fork."""

    id: int
    owner: User | None = None


class Head(_Answer):
    """The commit, branch and repository that a pull request proposes."""

    sha: Sha
    ref: str
    repo: Repository | None = Field(None, description="None: the fork was deleted")
    user: User | None = Field(None, description="None: the account was deleted")


class Target(_Answer):
    """The branch that a pull request goes into."""

    ref: str


class Pull(_Answer):
    """A pull request."""

    number: int
    locked: bool = False
    head: Head
    base: Target


class Commit(_Answer):
    """A commit of a pull request."""

    sha: Sha


class Run(_Answer):
    """A run of a workflow."""

    id: int
    run_attempt: int = 1
    event: str
    head_sha: Sha
    head_branch: str | None = None
    head_repository: Repository | None = None
    html_url: Address


class ArtifactEntry(_Answer):
    """An artifact in the list of a run."""

    id: int
    name: str
    size_in_bytes: int
    expired: bool


class Comment(_Answer):
    """A comment on an issue or a pull request."""

    id: int
    node_id: str
    body: str | None = None
    user: User | None = None


class Hidden(_Answer):
    """Whether a comment is hidden, and the reason."""

    id: str
    is_minimized: bool = Field(alias="isMinimized")
    reason: str | None = Field(None, alias="minimizedReason")


class Issue(_Answer):
    """An issue; GitHub's lists of issues contain pull requests too."""

    number: int
    title: str
    body: str | None = None
    state: Literal["open", "closed"]
    locked: bool = False
    user: User | None = None
    created_at: Moment
    pull_request: dict[str, object] | None = None


class CheckRun(_Answer):
    """A check on a commit."""

    id: int
    external_id: str | None = None


class Page(_Answer, Generic[_Entry]):
    """A page of a list that is a field of the answer."""

    entries: list[_Entry] = Field(
        validation_alias=AliasChoices("workflow_runs", "artifacts", "check_runs")
    )
