"""The doctor's check of the sandbox for runs: whether it works, and what else is available."""

from collections.abc import Iterator

from ghp_agents.cards import container, sandbox
from ghp_agents.cards.container import CONTAINER, PROGRAMS
from ghp_agents.core.errors import NotSetUpError
from ghp_agents.core.finding import Finding, error, info, ok, warning
from ghp_agents.workspace import Workspace

CODE = "sandbox"
HINT = "docs/sandboxes.md"


def check(ws: Workspace) -> Iterator[Finding]:
    """Check the sandbox that the settings ask for; without one, say what cards could have."""
    settings = ws.settings.runs or {}
    setting = settings.get("sandbox") or sandbox.NEVER
    if setting in PROGRAMS:
        yield _container(ws, setting, settings.get("image") or "", settings.get("network") or "")
    elif setting != sandbox.NEVER:
        yield _bubblewrap(ws, setting)
    elif any(fields.get("permissions") is not None for fields in ws.settings.cards.values()):
        yield info(CODE, f"Runs of `agent-work` have no sandbox. {_available(ws)}", HINT)


def _container(ws: Workspace, setting: str, image: str, network: str) -> Finding:
    try:
        box = container.find(setting, image, network, ws.environ)
    except NotSetUpError as lacking:
        return error(CODE, f"{lacking} {_available(ws)}", lacking.hint)
    return ok(CODE, f"Runs are in containers of {box.program}, image {box.image}.")


def _bubblewrap(ws: Workspace, setting: str) -> Finding:
    trouble = sandbox.trouble(ws.environ)
    if not trouble:
        return ok(CODE, f"Runs are in bubblewrap ({setting}).")
    kind = warning if setting == sandbox.AUTO else error
    text = f"Runs cannot use bubblewrap: {trouble}. {_available(ws)}"
    return kind(CODE, text, f"Install bubblewrap, or see {HINT} for containers.")


def _available(ws: Workspace) -> str:
    """What is available on this machine."""
    names = [] if sandbox.trouble(ws.environ) else ["bubblewrap"]
    programs = PROGRAMS[CONTAINER]
    names += [name for name in programs if not container.trouble_of(name, ws.environ)]
    if not names:
        return "Neither bubblewrap nor podman nor docker works here."
    return f"Available here: {', '.join(names)}."
