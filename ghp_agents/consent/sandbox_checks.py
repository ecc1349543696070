"""The doctor's check of the sandbox for runs: whether it works, and what else is available."""

from collections.abc import Iterator
from contextlib import suppress

from ghp_agents.cards import container, sandbox
from ghp_agents.cards.container import CONTAINER, PROGRAMS
from ghp_agents.core.errors import NotSetUpError
from ghp_agents.core.finding import Finding, error, info, ok, warning
from ghp_agents.workspace import Workspace

CODE = "sandbox"
HINT = "docs/sandboxes.md"


def check(ws: Workspace) -> Iterator[Finding]:
    """Check the sandbox of what runs unattended, if a person chose one or a card has
    permissions."""
    settings = ws.settings.runs or {}
    chosen, image = settings.get("sandbox"), settings.get("image") or ""
    has_limits = any(card.get("permissions") is not None for card in ws.settings.cards.values())
    if chosen in PROGRAMS:
        yield _container(ws, chosen, image, settings.get("network") or "")
    elif chosen == sandbox.NEVER:
        if has_limits:
            yield info(CODE, f"Runs of `agent-work` have no sandbox. {_available(ws)}", HINT)
    elif chosen or has_limits:
        yield _bubblewrap(ws, chosen or sandbox.AUTO, image)


def _container(ws: Workspace, setting: str, image: str, network: str) -> Finding:
    try:
        box = container.find(setting, image, network, ws.environ)
    except NotSetUpError as lacking:
        return error(CODE, f"{lacking} {_available(ws)}", lacking.hint)
    return ok(CODE, f"Runs are in containers of {box.program}, image {box.image}.")


def _bubblewrap(ws: Workspace, setting: str, image: str) -> Finding:
    trouble = sandbox.trouble(ws.environ)
    if not trouble:
        return ok(CODE, f"Runs are in bubblewrap ({setting}).")
    if setting == sandbox.AUTO and image:
        with suppress(NotSetUpError):
            box = container.find(CONTAINER, image, "", ws.environ)
            return ok(CODE, f"Runs are in containers of {box.program}, image {box.image}.")
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
