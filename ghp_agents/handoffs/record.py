"""Handoffs as files of the state. People read them; anybody may have written them.

Patches are in a separate folder, so reading handoffs does not load all stored work.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NotRequired, TypedDict

from ghp_agents.core import front_matter
from ghp_agents.core.declared import plain
from ghp_agents.core.fields import any_count, any_list, any_text, as_actor, as_agent, is_oid
from ghp_agents.core.front_matter import Document
from ghp_agents.core.ids import Timestamp, agent_name, one_line, slug
from ghp_agents.handoffs import sections
from ghp_agents.handoffs.handoff import KINDS, Handoff, Missing, PackedCommits, Work, ordered
from ghp_agents.state.codec import read_files
from ghp_agents.state.record import HANDOFFS as HANDOFFS
from ghp_agents.state.record import Problem

PATCHES = ".ghp/patches/"
NO_ISSUE = "none"
_PATH = re.compile(r"\.ghp/handoffs/(none|[1-9][0-9]{0,15})/[^/]+-([0-9a-f]{8,64})\.md")

_BRANCH = re.compile(r"(?!-)[^\s~^:?*\[\\]+")


def folder_of(issue: int | None) -> str:
    """Return the folder of an issue's handoffs in the state."""
    return f"{HANDOFFS}{issue if issue is not None else NO_ISSUE}/"


def path_of(handoff: Handoff) -> str:
    """Return the path of a handoff: `<issue>/<utc>-<from>-<id>.md`."""
    at = "".join(char for char in handoff.at if char.isalnum())
    by = (
        slug(handoff.by.name) or "somebody" if handoff.by.is_person else agent_name(handoff.by.name)
    )
    return f"{folder_of(handoff.issue)}{at}-{by}-{handoff.id}.md"


def patch_folder_of(handoff: Handoff) -> str:
    """Return the folder with the patch of a handoff."""
    return f"{PATCHES}{handoff.id}/"


def patch_path_of(handoff: Handoff) -> str:
    """Return the path of a handoff's patch."""
    return f"{patch_folder_of(handoff)}work.patch"


def pack_path_of(handoff: Handoff) -> str:
    """Return the path of a handoff's packed commits."""
    return f"{patch_folder_of(handoff)}commits.pack"


def applied_path_of(handoff: Handoff, record: str) -> str:
    """Return the path of the record that somebody restored a handoff's work."""
    return f"{patch_folder_of(handoff)}applied-{record}.json"


class WorkFields(TypedDict):
    """The uncommitted work, as a patch on the commit `base`."""

    base: str
    patch: str | None
    bytes: int
    sha256: str
    files: int
    leftOut: list[Missing]


_Sender = TypedDict("_Sender", {"from": str})


class CommitsFields(TypedDict):
    """The commits that no remote has, as a pack on the commit `base`."""

    pack: str
    base: str
    bytes: int
    sha256: str
    count: int


class SectionsFields(TypedDict, total=False):
    """The agent's own description of its work."""

    goal: str
    focus: str
    summary: str
    decisions: list[str]
    findings: list[str]
    identifiers: list[str]
    artifacts: list[str]
    next: list[str]


class HandoffFile(_Sender, TypedDict):
    """The front matter of a handoff or a checkpoint."""

    id: str
    kind: str
    person: bool
    to: str | None
    issue: int | None
    at: str
    clock: int
    branch: str | None
    head: str
    evidence: str
    note: str
    nextSteps: list[str]
    work: NotRequired[WorkFields]
    commits: NotRequired[CommitsFields]
    sections: NotRequired[SectionsFields]


def render(handoff: Handoff, body: str) -> bytes:
    """Return a handoff's file: front matter for machines, the document for people."""
    return front_matter.render(Document(fields(handoff), body))


def fields(handoff: Handoff) -> dict[str, Any]:
    """Return the fields of a handoff, as its front matter and JSON have them."""
    work, commits = handoff.work, handoff.commits
    meta: dict[str, Any] = {
        "id": handoff.name,
        "kind": handoff.kind,
        "from": handoff.by.name,
        "person": handoff.by.is_person,
        "to": handoff.to,
        "issue": handoff.issue,
        "at": handoff.at,
        "clock": handoff.clock,
        "branch": handoff.branch,
        "head": handoff.head,
        "evidence": handoff.evidence,
        "note": handoff.note,
        "nextSteps": list(handoff.next_steps),
    }
    if work:
        missing = [*map(plain, work.missing)]
        meta["work"] = {
            "base": work.base,
            "patch": patch_path_of(handoff) if work.size else None,
            "bytes": work.size,
            "sha256": work.digest,
            "files": work.files,
            "leftOut": missing,
        }
    if commits:
        meta["commits"] = {
            "pack": pack_path_of(handoff),
            "base": commits.base,
            "bytes": commits.size,
            "sha256": commits.digest,
            "count": commits.total,
        }
    words = sections.encode(handoff.sections)
    return {**meta, "sections": words} if words else meta


def read_handoffs(files: Mapping[str, bytes]) -> tuple[list[Handoff], list[Problem]]:
    """Read the handoffs from files of the state, the oldest first; also what could not be read.

    Unknown files are ignored.
    """
    handoffs, problems = read_files(files, _handoff, _PATH)
    return ordered(handoffs), problems


@lru_cache(maxsize=200)  # a command reads them for its facts, and again when it writes
def _handoff(issue: str, identity: str, data: bytes) -> Handoff:
    meta = front_matter.parse(data).meta
    by = one_line(any_text(meta.get("from")), 80)
    if not by or meta.get("kind") not in KINDS:
        raise ValueError("not a handoff: its kind or its author is missing")
    to = any_text(meta.get("to"))
    return Handoff(
        id=identity,
        kind=meta["kind"],
        by=as_actor(by, meta.get("person")),
        to=as_agent(to) if to else None,
        issue=None if issue == NO_ISSUE else int(issue),
        at=Timestamp(one_line(any_text(meta.get("at")), 40)),
        clock=any_count(meta.get("clock")),
        evidence=any_text(meta.get("evidence")),
        branch=_branch(meta.get("branch")),
        head=_oid(meta.get("head")),
        note=any_text(meta.get("note")),
        next_steps=tuple(map(any_text, any_list(meta.get("nextSteps")))),
        work=_work(meta.get("work")),
        commits=_commits(meta.get("commits")),
        sections=sections.decode(meta.get("sections")),
    )


def _commits(value: Any) -> PackedCommits | None:
    if not isinstance(value, dict):
        return None
    return PackedCommits(
        base=_oid(value.get("base")),
        size=any_count(value.get("bytes")),
        digest=any_text(value.get("sha256")),
        total=any_count(value.get("count")),
    )


def _work(value: Any) -> Work | None:
    if not isinstance(value, dict):
        return None
    missing = [item for item in any_list(value.get("leftOut")) if isinstance(item, dict)]
    return Work(
        base=_oid(value.get("base")),
        size=any_count(value.get("bytes")),
        digest=any_text(value.get("sha256")),
        files=any_count(value.get("files")),
        missing=tuple(
            Missing(
                any_text(item.get("path")),
                any_count(item.get("size")) if item.get("size") is not None else None,
                any_text(item.get("reason")),
            )
            for item in missing
        ),
    )


def _branch(value: Any) -> str | None:
    """Return a branch name that is safe in commands to copy; None for an invalid one."""
    text = any_text(value)
    is_branch = _BRANCH.fullmatch(text) and text.isprintable() and len(text) < 250
    return text if is_branch else None


def _oid(value: Any) -> str:
    """Return a commit's id, checked: git gets it as an argument."""
    text = any_text(value)
    if text and not is_oid(text):
        raise ValueError("a commit has an invalid id")
    return text
