"""Which sandbox the settings ask for, for the runs of one card."""

from contextlib import suppress

from ghp_agents.cards import container, manifest, sandbox
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.container import CONTAINER, PROGRAMS, Container
from ghp_agents.cards.manifest import NETWORK
from ghp_agents.core.errors import NotSetUpError, RefusedError
from ghp_agents.runs.runners import Runner
from ghp_agents.workspace import Workspace

OUTSIDE = ("claude-bg",)  # a service of this machine starts its sessions


def of(ws: Workspace, card: AgentCard, runner: Runner) -> Container | bool:
    """The container of the card's runs, or whether bubblewrap holds them. Raises NotSetUpError."""
    settings = ws.settings.runs or {}
    setting = settings.get("sandbox") or sandbox.NEVER
    image = settings.get("image") or ""
    network = "" if _has_network(card) else settings.get("network") or ""
    if setting in PROGRAMS:
        return container.find(setting, image, network, ws.environ)
    if setting == sandbox.ALWAYS:
        sandbox.required(ws.environ)
        return True
    if setting == sandbox.NEVER or runner.name in OUTSIDE:
        return False
    if not sandbox.trouble(ws.environ):
        return True
    with suppress(NotSetUpError):
        return container.find(CONTAINER, image, network, ws.environ)
    return False


def warning(ws: Workspace, runner: Runner, boxed: Container | bool) -> str:
    """What a person reads who wanted a sandbox if it works, and has none; else nothing."""
    setting = (ws.settings.runs or {}).get("sandbox") or sandbox.NEVER
    if boxed or setting != sandbox.AUTO:
        return ""
    if runner.name in OUTSIDE:
        why = f"{runner.name} starts its sessions outside"
    else:
        why = f"bubblewrap: {sandbox.trouble(ws.environ)}"
    return (
        f"These runs have no sandbox: they can do all that you can do ({why}). "
        "docs/sandboxes.md says how to get one."
    )


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
