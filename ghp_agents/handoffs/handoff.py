"""A handoff: what one agent leaves for the next; a checkpoint is one for oneself."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor, Timestamp, count, only_match

HANDOFF, CHECKPOINT = "handoff", "checkpoint"
KINDS = (HANDOFF, CHECKPOINT)
NOTE_LIMIT = 50_000  # characters
TAKE_ANOTHER = "Take another issue: `ghp agent-start --next`."


class Missing(NamedTuple):
    """Work that could not be stored, and why."""

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


def next_steps(now: Situation) -> list[str]:
    """Return what to do next, in order. It contains only this program's text, no others'."""
    if now.is_stopped:
        return [f"Stop: #{now.issue} is not yours. Commit nothing more for it.", TAKE_ANOTHER]
    steps = [_restore(now), _unstored(now), _operation(now), _send(now), _wait(now), _blocked(now)]
    steps += [_tasks(now), _rights(now), _continue(now)]
    return [step for step in steps if step]


def _restore(now: Situation) -> str:
    named = f" --issue {now.issue}" if now.issue else ""
    files = count(now.stored, "file")
    command = f"`ghp agent-resume{named} --apply`"
    return f"Restore the uncommitted work ({files}): {command}." if now.stored else ""


def _unstored(now: Situation) -> str:
    paths = count(now.unstored, "path")
    them = "It exists" if now.unstored == 1 else "They exist"
    where = f"{them} only in the worktree of this handoff."
    return f"{paths} could not be stored. {where}" if now.unstored else ""


def _operation(now: Situation) -> str:
    conflicts = f": {count(now.conflicts, 'conflict')} to resolve" if now.conflicts else ""
    return f"Finish or abort {now.operation}{conflicts}." if now.operation else ""


def _send(now: Situation) -> str:
    branch = f" {now.branch}" if now.branch else ""
    commits = f"{count(now.unsent, 'unpushed commit')}; `ghp agent-finish` pushes, too."
    return f"Push{branch}: {commits}" if now.unsent else ""


def _wait(now: Situation) -> str:
    names = ", ".join(now.waiting_for)
    return f"Wait for an answer before work that depends on {names}." if names else ""


def _blocked(now: Situation) -> str:
    numbers = ", ".join(f"#{number}" for number in now.blocked_by)
    them = "it is" if len(now.blocked_by) == 1 else "they are"
    return f"Blocked by {numbers}: wait until {them} closed." if numbers else ""


def _tasks(now: Situation) -> str:
    tasks = f"{now.tasks_open} of {count(now.tasks, 'task')}"
    return f"Do the open tasks of the issue: {tasks}." if now.tasks_open else ""


def _rights(now: Situation) -> str:
    held = ", ".join(now.rights)
    return f"The previous agent still holds {held}." if now.rights and now.to else ""


def _continue(now: Situation) -> str:
    if now.issue is None or now.tasks_open or now.blocked_by:
        return ""
    closed = f"#{now.issue} is closed. Stop, unless a person asked you to continue."
    return closed if now.issue_is_closed else f"Continue with #{now.issue}."


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
