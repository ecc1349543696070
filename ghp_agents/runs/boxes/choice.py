"""Which sandbox the settings ask for, for runs and background tasks."""

from contextlib import suppress
from pathlib import Path

from ghp_agents.cards import container, manifest, sandbox
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.container import CONTAINER, PROGRAMS, Container
from ghp_agents.cards.manifest import NETWORK
from ghp_agents.core import files
from ghp_agents.core.errors import NotSetUpError, RefusedError
from ghp_agents.runs.boxes import box_paths
from ghp_agents.runs.runners import Runner
from ghp_agents.workspace import Workspace

OUTSIDE = ("claude-bg",)  # a service of this machine starts its sessions
SHOWN = "no-sandbox"  # in the clone's cache: the warning that was shown


def setting(ws: Workspace) -> str:
    """The value of `runs.sandbox`."""
    return str((ws.settings.runs or {}).get("sandbox") or sandbox.AUTO)


def of(ws: Workspace, card: AgentCard | None, runner: str) -> Container | bool:
    """The container of a card's runs, or of a task, or whether bubblewrap holds them. Raises
    NotSetUpError."""
    settings, chosen = ws.settings.runs or {}, setting(ws)
    image = settings.get("image") or ""
    network = "" if card and _has_network(card) else settings.get("network") or ""
    if chosen in PROGRAMS:
        return container.find(chosen, image, network, ws.environ)
    if chosen == sandbox.ALWAYS:
        sandbox.required(ws.environ)
        return True
    if chosen == sandbox.NEVER or runner in OUTSIDE:
        return False
    if not sandbox.trouble(ws.environ):
        return True
    with suppress(NotSetUpError):
        return container.find(CONTAINER, image, network, ws.environ)
    return False


def warning(ws: Workspace, runner: str, boxed: Container | bool) -> str:
    """What a person reads who has no sandbox and did not choose that; else nothing. A clone says
    it once, until the reason changes."""
    if boxed or setting(ws) != sandbox.AUTO:
        return ""
    outside = runner in OUTSIDE and f"{runner} starts its sessions outside"
    return _once(ws, outside or f"bubblewrap: {sandbox.trouble(ws.environ)}")


def for_worktree(
    ws: Workspace, boxed: Container | bool, tree: Path, branch: str
) -> tuple[Container | bool, str]:
    """What holds a run in a worktree, and what its person should know. With `auto`, a run whose
    commits a sandbox would prevent has none."""
    why = box_paths.obstacle(tree, branch) if boxed and setting(ws) == sandbox.AUTO else ""
    return (False, _once(ws, why)) if why else (boxed, "")


def _once(ws: Workspace, why: str) -> str:
    text = (
        f"What runs here unattended has no sandbox: it can do all that you can do ({why}). "
        "docs/sandboxes.md says how to get one."
    )
    path = ws.cache_dir / SHOWN
    with suppress(OSError):
        if path.read_text("utf-8", "replace") == text:
            return ""
    with suppress(OSError):  # then it is said again
        files.write_atomically(path, text.encode())
    return text


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
