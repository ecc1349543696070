"""What a client reads first: who it is, what to do, and what `agent-resume` prints."""

from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.handoffs import resume
from ghp_agents.hotpath.quoting import clean, phrase
from ghp_agents.ports import Context
from ghp_agents.pulls import requested_changes
from ghp_agents.runs.record import TEXT_LIMIT

FIRST = (
    "You are agent {agent}. You work alone: nobody reads or answers here. Work on #{issue} "
    "until it is done. Commit your work and run `ghp agent-finish`. If only a person can decide "
    "something, run `ghp agent-escalate QUESTION` and end your turn; you are started again with "
    "the answer."
)
BOXED = (
    " You are in a sandbox. You write to this worktree, to /tmp and to your home only. You cannot "
    "push, fetch or claim: what you commit and send is sent for you."
)
AGAIN = "You worked on this before. That run ended: {why}."
CALLED = "You are started again for this:"
ROLE_LIMIT = 8_000  # characters
AGAIN_LIMIT = 8_000  # characters of what a resumed session reads, for it knows most of it

LEAST_LIMIT = 4_000


def resumed(inner: Context, agent: str, issue: int, max_chars: int | None = None) -> str:
    """What `agent-resume` prints in the agent's worktree; its news counts as delivered."""
    chosen = resume.choose(inner, issue=str(issue))
    requested = requested_changes.steps(inner.store.snapshot(), chosen.about.numbers)
    resumption = resume.resume(inner, chosen, max_chars=max_chars, requested=requested)
    if resumption.news:
        mark_told(inner.ws, AgentName(agent), [item.id for item in resumption.news])
    return f"Work in {_folder(inner)}\n\n{clean(resumption.text)}"


def of_run(
    inner: Context,
    agent: str,
    issue: int,
    why: str,
    max_chars: int,
    cause: str = "",
    role: str = "",
    *,
    boxed: bool = False,
) -> str:
    """The prompt of a run. `why` says how the last run ended, `cause` what it is started for again;
    both are empty for the first. `role` is what people wrote for the agent on its card.
    `boxed`: the run is in a sandbox."""
    begin = FIRST.format(agent=agent, issue=issue) + (BOXED if boxed else "")
    task = f"\n\n{clean(role[:ROLE_LIMIT])}" if role else ""
    again = f"\n\n{AGAIN.format(why=phrase(why, TEXT_LIMIT))}" if why else ""
    called = f"\n\n{CALLED}\n\n{cause}" if cause else ""
    room = max(LEAST_LIMIT, max_chars - len(cause))
    return f"{begin}{task}{again}{called}\n\n{resumed(inner, agent, issue, room)}"


def _folder(inner: Context) -> Path:
    return inner.ws.folder
