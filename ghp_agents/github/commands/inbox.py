"""Reads new comments from GitHub and selects commands from people with permission.

If no issue changed since the last look, there is no new comment and no request. The cache keeps how
far the comments were read. Without it the last week is read again, which is harmless, because the
state records executed commands.

GitHub may list a comment later than it counts it. Until all are listed, each look reads again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor
from ghp_agents.core.json_file import object_file
from ghp_agents.github import marker as github_marker
from ghp_agents.github.accounts import Names
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands import late_comments, parse
from ghp_agents.github.commands.parse import ParsedComment
from ghp_agents.github.tracker import mapping, mirror
from ghp_agents.hotpath import policy_stamp
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.settings import rights
from ghp_agents.workspace import Workspace

HEARD = "hub/heard.json"  # in the folder of caches
LOOK_BACK = 7 * 86_400.0  # seconds, on the first read
REMARK = 500  # characters of a comment that are shown to an agent
_NUMBER = re.compile(r"/issues/([0-9]{1,10})$")
_MIRROR = "/issues.json"


class HeardComment(NamedTuple):
    """A comment, which may contain something for agents."""

    id: int
    issue: int  # or the pull request
    login: str
    by: Actor
    parsed: ParsedComment
    at: str = ""  # when it was written or last changed
    is_typed: bool = False  # by a person on GitHub or by e-mail, not through a program
    line: str = ""  # the beginning of its text, for agents that work on its issue
    is_of_person: bool = True  # not posted by an agent through this program

    @property
    def is_remark(self) -> bool:
        """Whether it has words that are neither obeyed nor refused."""
        return bool(self.line) and not (self.parsed.commands or self.parsed.mistakes)

    @property
    def may_order(self) -> bool:
        """Whether it may contain something for agents to obey."""
        return self.is_of_person and self.parsed != parse.NOTHING


class CommentInbox:
    """How far a clone has read comments. `done` marks them as handled."""

    remarks: tuple[HeardComment, ...] = ()  # the new ones, after `listen`

    def __init__(self, ws: Workspace, hub: GitHubRepository) -> None:
        self._ws, self._hub = ws, hub
        self._stamp = _stamp(ws, f"{hub.host}/{hub.repository}")
        stored = _load(ws, f"{hub.host}/{hub.repository}")
        self._was, self._since = stored.get("stamp"), str(stored.get("since") or "")
        self._counts = late_comments.from_json(stored.get("counts"))

    @property
    def is_due(self) -> bool:
        """Whether an issue or a pull request changed since the last look."""
        return self._stamp is None or self._was != self._stamp

    def listen(self, issues: Mapping[int, object]) -> list[HeardComment]:
        """New comments on these issues, oldest first. Sends requests only if an issue changed."""
        if not self.is_due:
            return []
        since = self._since
        comments = {int(raw["id"]): raw for raw in self._new()}
        self._count(comments, since)
        self._wait_for(raw for raw in comments.values() if _issue(raw) not in issues)
        new = [read for identity in sorted(comments) if (read := self._read(comments[identity]))]
        self.remarks = tuple(read for read in new if read.is_remark)
        return [read for read in new if read.may_order and read.issue in issues]

    def may_command(self, comment: HeardComment) -> bool:
        """Whether the author has permission. One request in ten minutes for each account."""
        may = rights.may_direct(comment.by, self._ws.settings.orchestrators)
        return may and self.may_write(comment)  # an agent may have an account of its own

    def may_write(self, comment: HeardComment) -> bool:
        """Whether the author's account has write access."""
        return self._hub.may_command(comment.login)

    def done(self) -> None:
        """Mark all read comments as handled."""
        data = {
            "repository": f"{self._hub.host}/{self._hub.repository}",
            "stamp": self._stamp,
            "since": self._since,
            "counts": None if self._counts is None else late_comments.to_json(self._counts),
        }
        if data != _load(self._ws, str(data["repository"])):
            object_file(self._ws.cache_dir / HEARD).write(data)  # else it is read once more

    def _new(self) -> Sequence[Mapping[str, Any]]:
        """The comments of all issues since the last look."""
        since = self._since or to_text(max(0.0, self._ws.clock.now() - LOOK_BACK))
        comments, last, _ = self._hub.changes("issues/comments", since)
        if comments:
            self._since = last
        return comments

    def _count(self, comments: Mapping[int, Mapping[str, Any]], since: str) -> None:
        """Compare the comments with GitHub's counts; those that are missing are read next time."""
        mirrored = mirror.load(self._ws, f"{self._hub.host}/{self._hub.repository}")
        if mirrored is None:
            return
        counts = {number: issue.comments for number, issue in mirrored.issues.items()}
        listed = [(number, comment) for comment, raw in comments.items() if (number := _issue(raw))]
        now = self._ws.clock.now()
        self._counts = late_comments.settled(self._counts, counts, listed, now)
        missing = late_comments.missing(self._counts)
        if missing:
            changed_at = [mirrored.issues[number].updated_at for number in missing]
            self._since = late_comments.read_from(since or self._since, changed_at)
            self._stamp = None

    def _wait_for(self, unknown: Iterable[Mapping[str, Any]]) -> None:
        """Read comments on issues that were created after the issues were read again next time."""
        later = [raw for raw in unknown if "/pull/" not in str(raw.get("html_url") or "")]
        self.hear_again(str(raw.get("updated_at") or "") for raw in later)

    def hear_again(self, changed_at: Iterable[str]) -> None:
        """Read again next time, for up to a week, what was changed at these times: it could not be
        handled."""
        oldest = to_text(max(0.0, self._ws.clock.now() - LOOK_BACK))
        times = [at for at in changed_at if at > oldest]
        if times:
            self._since, self._stamp = min(self._since, *times), None

    def _read(self, raw: Mapping[str, Any]) -> HeardComment | None:
        number = _issue(raw)
        try:
            comment = mapping.mirror_comment(raw)
        except ValueError:
            return None
        text, mark = github_marker.split_marker(comment.body)
        if number is None or (mark and mark.once):  # this program posts some comments once
            return None
        by = actor_of(self._ws, comment.author)
        if by.is_person and mark and mark.by:  # an agent's own account stays an agent
            by = mark.actor
        parsed = parse.NOTHING if len(comment.body) > parse.LONGEST else parse.read(text)
        line = next((line for line in text.splitlines() if line.strip()), "")
        if not comment.is_person:  # a bot's account: its quotations answer nothing
            parsed = parsed._replace(replies=(), plain="")
        return HeardComment(
            comment.id, number, comment.author, by, parsed, comment.updated_at,
            is_typed=mark is None and by.is_person, line=line[:REMARK],
            is_of_person=mark is None or mark.is_person,
        )  # fmt: skip


def _issue(raw: Mapping[str, Any]) -> int | None:
    """The number of the comment's issue."""
    number = _NUMBER.search(str(raw.get("issue_url") or ""))
    return int(number[1]) if number else None


def actor_of(ws: Workspace, login: str) -> Actor:
    """The actor behind an account: a person, or the agent whose account it is."""
    name = Names(ws.settings.accounts).person(login)
    return Actor(name) if is_name(name) else Actor(name, is_person=True)


def _stamp(ws: Workspace, repository: str) -> list[int | str] | None:
    """Changes whenever the mirror of the issues does, or GitHub's list of issues and pull
    requests."""
    try:
        status = Path(f"{ws.ghp_dir}{policy_stamp.MIRROR}{_MIRROR}").stat()
    except OSError:
        return None
    cursor = mirror.checked(ws, repository).cursor
    return [status.st_mtime_ns, status.st_ino, status.st_size, cursor]


def _load(ws: Workspace, repository: str) -> dict[str, Any]:
    data = object_file(ws.cache_dir / HEARD).read()
    return data if data.get("repository") == repository else {}
