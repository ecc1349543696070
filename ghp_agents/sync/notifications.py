"""News for an agent: answers, work that was sent back, and that its claim was taken by another."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.claim import fence_of
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.messages import News
from ghp_agents.github.commands import notices
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.returned import FOLDER, Return
from ghp_agents.hotpath import heartbeat, news_flag, presence_file
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.hotpath.quoting import clean
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.pulls import send_back
from ghp_agents.workspace import Workspace

ISSUES = "issue/"
ANSWERS = ".ghp/answers/"
ANSWER_LIMIT = 4_000  # characters of one answer; the command that shows the rest is said
MORE = "There is more: `ghp agent-status` shows it."


class Notifications(NamedTuple):
    """What to print, and what its reader is then told of."""

    text: str
    told: tuple[str, ...] = ()


def gather(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    agent: AgentName,
    *,
    again: bool = False,
    limit: int = 10_000,
) -> Notifications:
    """All that is new for `agent`, in at most `limit` characters; the rest stays new.

    That its claim was taken is said once, or `again` as long as it is so.
    """
    snapshot = store.snapshot()
    found = [*_of_fence(ws, leaser, agent, again)]
    found += _wanted(ws, snapshot, leaser, agent, again)
    found += [(_answer(one), one.id) for one in _answers(ws, snapshot, agent)]
    found += [(_returned(*pair), _of(pair[0])) for pair in _returns(ws, snapshot, agent)]
    room = limit - len(MORE) - 1
    kept: list[tuple[str, str]] = []
    for text, name in found:
        room -= _units(text) + 1
        if room < 0:
            break
        kept.append((text, name))
    lines = [text for text, _ in kept] + ([MORE] if len(kept) < len(found) else [])
    return Notifications("\n".join(lines), tuple(name for _, name in kept))


def _of_fence(
    ws: Workspace, leaser: LockService, agent: AgentName, again: bool
) -> list[tuple[str, str]]:
    fence = _fence(ws, leaser, agent)
    if fence is None or (not again and escalation.is_told(ws, agent, _name(fence))):
        return []
    return [(clean(f"{fence.words} {fence.hint}"), _name(fence))]


def _answer(one: News) -> str:
    """An answer in its block; where its question is too long for one, the way to it."""
    text = clean(escalation.render_news([one], limit=ANSWER_LIMIT).rstrip())
    if _units(text) <= 2 * ANSWER_LIMIT:
        return text
    name = one.escalation.name
    return f"{name} was answered: `ghp agent-escalations {name}` shows it."


def fence_lines(
    ws: Workspace, snapshot: Snapshot, leaser: LockService, agent: AgentName
) -> list[str]:
    """That the claim of `agent` was taken, and what people on GitHub want of it, as long as it is
    so."""
    fenced = _of_fence(ws, leaser, agent, again=True)
    return [text for text, _ in [*fenced, *_wanted(ws, snapshot, leaser, agent, again=True)]]


def _wanted(
    ws: Workspace, snapshot: Snapshot, leaser: LockService, agent: AgentName, again: bool
) -> list[tuple[str, str]]:
    """What people on GitHub want of the agent; that it is to stop, `again` as long as it is so."""
    orders = notices.orders(leaser, snapshot, agent)
    new = notices.assignments(ws, agent)
    told = [each for each in orders if not again] + new
    known = {name for _, name in told if escalation.is_told(ws, agent, name)}
    return [each for each in (*orders, *new) if each[1] not in known]


def mark(ws: Workspace, agent: AgentName, told: Iterable[str]) -> None:
    """Remember what `agent` was told, after it was."""
    names = list(told)
    if names:
        escalation.mark_told(ws, agent, names)


def notify_agents(ws: Workspace, snapshot: Snapshot, leaser: LockService) -> None:
    """Let the agents of this clone hear that there is something new for them."""
    answered = bool(snapshot.files(ANSWERS))
    for agent in _agents_here(ws):
        fence = _fence(ws, leaser, agent)
        fenced = fence is not None and not escalation.is_told(ws, agent, _name(fence))
        wanted = _wanted(ws, snapshot, leaser, agent, again=False)
        new = (answered and _answers(ws, snapshot, agent)) or _returns(ws, snapshot, agent)
        if fenced or new or wanted:
            news_flag.set_flag(ws.folders, agent)


def _answers(ws: Workspace, snapshot: Snapshot, agent: AgentName) -> list[News]:
    return escalation.news_for(ws, snapshot, agent) if snapshot.files(ANSWERS) else []


def _returns(ws: Workspace, snapshot: Snapshot, agent: AgentName) -> list[tuple[Return, int]]:
    """The pull requests that were sent back to the agent, as long as it was not told."""
    if not snapshot.files(FOLDER):
        return []
    found = send_back.for_agent(snapshot, agent)
    return [pair for pair in found if not escalation.is_told(ws, agent, _of(pair[0]))]


def _returned(said: Return, round_number: int) -> str:
    text = clean(returned.news(said, round_number))
    if _units(text) <= 2 * ANSWER_LIMIT:
        return text
    short = said._replace(text=said.text[-ANSWER_LIMIT // 2 :])
    return clean(returned.news(short, round_number))


def _of(said: Return) -> str:
    """What was sent back among the things that an agent was told of."""
    return f"returned/{said.attempt}"


def _fence(ws: Workspace, leaser: LockService, agent: AgentName) -> LostClaim | None:
    presence = ws.presence(agent)
    if not presence or type(presence.get("generation")) is not int:
        return None
    known = {lease.name: lease for lease in leaser.known(ISSUES)}
    return fence_of(known, agent, presence, leaser.clone)


def _name(fence: LostClaim) -> str:
    """A fence among the things that an agent was told of."""
    return f"{ISSUES}{fence.issue}/{fence.generation}"


def _agents_here(ws: Workspace) -> list[AgentName]:
    """The agents of this machine that may still be told something."""
    files = [file for folder in ws.folders for file in Path(folder, "agents").glob("*.json")]
    found: list[AgentName] = []
    for name in sorted({file.stem for file in files}):
        presence = presence_file.newest(ws.folders, name) if heartbeat.is_name(name) else None
        if presence and presence.get("status") != "stopped":
            found.append(AgentName(name))
    return found


def _units(text: str) -> int:
    """The length as clients count it: in units of UTF-16."""
    return len(text) + sum(1 for char in text if char > "\uffff")
