"""A handoff: what one agent leaves for the next; a checkpoint is one for oneself."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor, Timestamp, count, only_match

HANDOFF, CHECKPOINT = "handoff", "checkpoint"
KINDS = (HANDOFF, CHECKPOINT)
NOTE_LIMIT = 50_000  # characters


class Missing(NamedTuple):
    """A file that the patch does not contain."""

    path: str
    size: int | None
    reason: str


class Work(NamedTuple):
    """Uncommitted work stored with a handoff. Without a patch, all of it was left out."""

    base: str  # the commit that it is based on; empty before the first commit
    size: int = 0  # bytes of the patch; 0: there is none
    digest: str = ""  # of the patch
    files: int = 0
    missing: tuple[Missing, ...] = ()


class PackedCommits(NamedTuple):
    """Commits stored with a handoff, because no remote has them."""

    base: str  # the commit that a reader must have; empty: none
    size: int  # bytes of the pack
    digest: str  # of the pack
    total: int


class Carried(NamedTuple):
    """How the commits of a branch reach the next agent."""

    is_pushed: bool = False
    why: str = ""  # they could not be pushed
    packed: PackedCommits | None = None
    content: bytes = b""  # the pack
    left: int = 0  # commits that the next agent does not get


NOTHING = Carried()


class Sections(NamedTuple):
    """An agent's own description of its work. Texts are replaced by newer ones; lists grow."""

    goal: str = ""
    focus: str = ""
    summary: str = ""
    decisions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


NO_WORDS = Sections()


class Handoff(NamedTuple):
    """The fields of a handoff, without the document that people read."""

    id: str
    kind: str
    by: Actor
    to: str | None
    issue: int | None
    at: Timestamp
    clock: int
    evidence: str  # digest of the content; an unchanged one is not recorded again
    branch: str | None = None
    head: str = ""
    note: str = ""
    next_steps: tuple[str, ...] = ()
    work: Work | None = None
    commits: PackedCommits | None = None
    sections: Sections = NO_WORDS

    @property
    def name(self) -> str:
        """The id as people see it."""
        return f"H-{self.id}"


class Situation(NamedTuple):
    """The facts that decide the next steps."""

    issue: int | None = None
    issue_is_closed: bool = False
    operation: str | None = None
    conflicts: int = 0
    unstored: int = 0
    stored: int = 0
    unsent: int = 0
    branch: str | None = None  # as it is shown
    waiting_for: tuple[str, ...] = ()  # unanswered questions
    blocked_by: tuple[int, ...] = ()
    tasks_open: int = 0
    tasks: int = 0
    rights: tuple[str, ...] = ()
    to: str | None = None
    is_stopped: bool = False  # the agent lost its claim of the issue, or a person stopped it
    start: str = ""  # the command that takes another issue


def next_steps(now: Situation) -> list[str]:
    """Return what to do next, in order. It contains only this program's text, no others'."""
    if now.is_stopped:
        stop = f"Stop: #{now.issue} is not yours. Commit nothing more for it."
        return [stop, f"Take another issue: `{now.start}`."]
    named = f" --issue {now.issue}" if now.issue else ""
    it_exists = "It exists" if now.unstored == 1 else "They exist"
    conflicts = f": {count(now.conflicts, 'conflict')} to resolve" if now.conflicts else ""
    branch = f" {now.branch}" if now.branch else ""
    blockers = ", ".join(f"#{number}" for number in now.blocked_by)
    they_are = "it is" if len(now.blocked_by) == 1 else "they are"
    steps = (
        (now.stored, f"Restore the uncommitted work ({count(now.stored, 'file')}): "
                     f"`ghp agent-resume{named} --apply`."),
        (now.unstored, f"{count(now.unstored, 'path')} could not be stored. {it_exists} only in "
                       "the worktree of this handoff."),
        (now.operation, f"Finish or abort {now.operation}{conflicts}."),
        (now.unsent, f"Push{branch}: {count(now.unsent, 'unpushed commit')}; `ghp agent-finish` "
                     "pushes, too."),
        (now.waiting_for, "Wait for an answer before work that depends on "
                          f"{', '.join(now.waiting_for)}."),
        (now.blocked_by, f"Blocked by {blockers}: wait until {they_are} closed."),
        (now.tasks_open, f"Do the open tasks of the issue: {now.tasks_open} of "
                         f"{count(now.tasks, 'task')}."),
        (now.rights and now.to, f"The previous agent still holds {', '.join(now.rights)}."),
    )  # fmt: skip
    return [step for applies, step in steps if applies] + _continue(now)


def _continue(now: Situation) -> list[str]:
    if now.issue is None or now.tasks_open or now.blocked_by:
        return []
    if now.issue_is_closed:
        return [f"#{now.issue} is closed. Stop, unless a person asked you to continue."]
    return [f"Continue with #{now.issue}."]


def ordered(handoffs: Iterable[Handoff]) -> list[Handoff]:
    """Sort by age, the oldest first; the same order on every machine."""
    return sorted(handoffs, key=lambda handoff: (handoff.clock, handoff.at, handoff.id))


def find(handoffs: Sequence[Handoff], reference: str) -> Handoff:
    """Find a handoff by its id or the beginning of it: `H-3f9a`, `3f9a`.

    Raises NotFoundError, or UsageError when several match.
    """
    prefix = reference.strip().lower().removeprefix("h-")
    matches = [handoff for handoff in handoffs if prefix and handoff.id.startswith(prefix)]
    hint = "`ghp agent-resume` lists handoffs. `ghp agent-sync` fetches those of other clones."
    return only_match(matches, reference, "handoff", lambda x: f"{x.name} ({x.at})", hint)


def size_text(size: int | None) -> str:
    """Format bytes for people: `512 B`, `3.2 kB`, `1.5 MB`."""
    if size is None:
        return "size unknown"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"
