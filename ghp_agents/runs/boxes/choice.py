"""Which sandbox the settings ask for, for the runs of one card."""

from ghp_agents.cards import container, manifest, sandbox
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.container import PROGRAMS, Container
from ghp_agents.cards.manifest import NETWORK
from ghp_agents.core.errors import RefusedError
from ghp_agents.runs.runners import Runner
from ghp_agents.workspace import Workspace

OUTSIDE = ("claude-bg",)  # a service of this machine starts its sessions


def of(ws: Workspace, card: AgentCard) -> Container | bool:
    """The container of the card's runs, or whether bubblewrap holds them. Raises NotSetUpError."""
    settings = ws.settings.runs or {}
    setting = settings.get("sandbox") or sandbox.NEVER
    if setting in PROGRAMS:
        network = "" if _has_network(card) else settings.get("network") or ""
        return container.find(setting, settings.get("image") or "", network, ws.environ)
    return sandbox.chosen(
        setting, has_manifest=card.permissions is not None, environ=ws.environ
    )  # fmt: skip


def _has_network(card: AgentCard) -> bool:
    """Whether a card allows the whole network; not if it has no permissions."""
    scope = manifest.scope_of(card.permissions or (), NETWORK)
    return scope is not None and (not scope or manifest.ALL in scope)


def check_runner(runner: Runner) -> None:
    """Raises RefusedError for a client that cannot be in a container."""
    if runner.name in OUTSIDE:
        raise RefusedError(
            f"{runner.name} cannot run in a container: Claude Code's own service starts it.",
            hint="Use --runner claude, or set `runs.sandbox` to none.",
        )
