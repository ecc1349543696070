"""The card of the agent that a supervisor runs."""

from pathlib import Path

from ghp_agents.cards import read_cards
from ghp_agents.cards.card import MACHINES, AgentCard
from ghp_agents.consent import service as consent_service
from ghp_agents.core.errors import RefusedError
from ghp_agents.git import default_branch
from ghp_agents.git.default_branch import DefaultBranch
from ghp_agents.hotpath.quoting import clean
from ghp_agents.settings import consent
from ghp_agents.settings import load as configuration
from ghp_agents.workspace import Workspace


def of(ws: Workspace, agent: str | None) -> AgentCard:
    """The card of an agent; an empty one if it has none. Raises RefusedError for a card that is
    wrong, or gives more than an agent has without it and no person has agreed to it. Raises
    GitError."""
    card = (ws.settings.card(agent) if agent else None) or AgentCard(agent or "")
    line = _line(ws) if agent and not card.path else None
    why = read_cards.machines_problem(ws.folder, line.ref) if line else ""
    if why:
        raise RefusedError(
            f"The permissions of {agent} are unknown: {MACHINES} on main cannot be "
            f"used: {clean(why)}.",
            hint="Correct it on main; `ghp agent-doctor` checks cards.",
        )
    if line and consent_service.lacks_machines(ws, line):
        raise RefusedError(
            f"{MACHINES} on main is not what a person agreed to, and says nothing of {agent}.",
            hint=consent.HINT,
        )
    if card.broken:
        raise RefusedError(
            f"The card of {agent} cannot be used: {clean(card.broken)}.",
            hint="Correct it on main; `ghp agent-doctor` checks cards.",
        )
    if card.grants and not card.approved:
        if card.was_agreed:
            raise RefusedError(
                f"{card.path} on main is not what a person agreed to for {agent}.",
                hint=consent.HINT,
            )
        raise RefusedError(
            f"{card.path} on main says what {agent} may run, reach or read, but nobody has "
            "approved it in this clone.",
            hint=consent.HINT,
        )
    return card


def endpoint(card: AgentCard) -> tuple[str, ...]:
    """The options of the runner `openai` for the card's model. With another address than the
    person's own, the person's key is not sent."""
    named = (("--url", card.url), ("--model", card.model))
    return tuple(f"{option}={value}" for option, value in named if value)


def instructions(ws: Workspace, card: AgentCard) -> str:
    """What people wrote for the agent below the fields of its file. Raises GitError."""
    line = _line(ws)
    return read_cards.instructions(ws.folder, line.ref, card.path) if line and card.path else ""


def _line(ws: Workspace) -> DefaultBranch | None:
    own = configuration.own_values(ws.ground)
    named = ws.settings.trunk or own.get("trunk") or own.get("main_branch")
    return default_branch.find(Path(ws.folder), remote=ws.settings.remote, named=named)
