"""The doctor's checks of GitHub: access, write permission, and waiting writes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ghp_agents.core import token_hosts
from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Check, Finding, error, info, ok, warning
from ghp_agents.github.api import access, status
from ghp_agents.github.api.access import RepositoryPlace
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.api.status import GitHubStatus
from ghp_agents.workspace import Workspace

FEATURES = {"sub-issues": "sub-issues", "dependencies": "dependencies", "reactions": "reactions"}
FEW = 0.1  # of the rate limit: below it there is a warning


def checks(ws: Workspace, hub: Callable[[], GitHubRepository | None]) -> dict[str, Check]:
    """Return the checks by code, in order; those with network requests come last."""
    return {
        "github": partial(check_here, ws, hub),
        "github-repository": partial(check_repository, hub),
    }


def check_here(ws: Workspace, hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Check what is known without a request."""
    yield from check_access(ws, hub)
    yield from check_outbox(hub)
    yield from check_unread(hub)
    yield from check_limit(ws, hub)


def check_access(ws: Workspace, hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Report where issues are, and why. Raises NotSetUpError if GitHub is configured and
    unavailable."""
    found = hub()
    if found:
        yield ok("github", f"Issues are on GitHub: {found.url}{_features(found)}.")
        return
    place = None if ws.settings.tracker == "local" else access.where(ws)
    if place is None:
        return  # not a GitHub repository
    why = "there is no token for it" if ws.settings.push else "the configuration keeps all here"
    yield info(
        "github",
        f"Issues are kept in this repository's state, not on {place.host}/{place.repository}: "
        f"{why}.",
        _login_hint(ws, place) if ws.settings.push else "",
    )


def check_outbox(hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Report writes that wait to be sent, and writes that GitHub refused."""
    found = hub()
    if found is None:
        return
    waiting = found.outbox.waiting()
    if waiting:
        first = f"the first is {waiting[0].says}"
        text = (
            f"{_count(len(waiting), 'write')} wait{_s(len(waiting))} to be sent to GitHub; {first}."
        )
        yield warning("github-outbox", text, "Send now: ghp agent-sync")
    for refusal in found.refused():
        yield warning(
            "github-outbox",
            f"Not sent to GitHub: {refusal.job.says}. {refusal.why}",
            "It is tried again by itself within the hour, or with another token."
            if refusal.again
            else f"It is kept in {found.outbox.folder / 'refused'}; remove it there to forget it.",
        )


def check_unread(hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Report issues that cannot be read from GitHub's response."""
    found = hub()
    for number, why in found.unread.items() if found else ():
        yield warning(
            "github-unread",
            f"#{number} on GitHub cannot be read, and is left out: {why}.",
            f"Look at it there: {found.url}/issues/{number}" if found else "",
        )


def check_limit(ws: Workspace, hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Report the remaining rate limit, as far as it is known without a request."""
    found = hub()
    if found is None:
        return
    now = ws.clock.now()
    known = found.status()
    if known.paused_until is not None:
        yield warning(
            "github-limit",
            f"{known.why_paused}.",
            f"Wait: this clone may ask again in {ago(known.paused_until - now)}.",
        )
    elif known.remaining is not None and known.limit is not None:
        text = f"GitHub: {_limit_text(known, now)}."
        few = known.remaining < known.limit * FEW
        remedy = "Give agents another token, or let fewer work."
        yield warning("github-limit", text, remedy) if few else ok("github-limit", text)


def in_short(ws: Workspace) -> Iterator[tuple[str, str]]:
    """Return lines for `agent-status`, without any request; a warning has a hint."""
    found, now = status.seen(ws), ws.clock.now()
    if found is None:
        return
    if found.paused_until is not None:
        yield f"{found.why_paused}.", f"It may be asked again in {ago(found.paused_until - now)}."
    elif found.remaining is not None:
        yield f"GitHub: {_limit_text(found, now)}.", ""
    if found.queued:
        yield (
            f"{_count(found.queued, 'write')} wait{_s(found.queued)} to be sent to GitHub.",
            "`ghp agent-sync` sends now.",
        )
    if found.refused:
        yield (
            f"GitHub refused {_count(found.refused, 'write')}.",
            "`ghp agent-doctor` says which, and why.",
        )


def _limit_text(found: GitHubStatus, now: float) -> str:
    text = f"{found.remaining} of {found.limit} requests are left"
    return text + (f"; full again in {ago(found.resets - now)}" if found.resets else "")


def check_repository(hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Ask GitHub about the repository and the token. Raises what the hub raises."""
    found = hub()
    if found is None:
        return
    answer: Any = found.get("").body
    answer = answer if isinstance(answer, dict) else {}
    if answer.get("has_issues") is False:
        yield error(
            "github-repository",
            f"Issues are switched off in {found.repository}.",
            'Switch them on in its settings, or keep issues here: "agents": {"tracker": "local"}.',
        )
    allowed = answer.get("permissions")
    push = allowed.get("push") if isinstance(allowed, dict) else None
    who = found.viewer()
    if push is False:
        yield warning(
            "github-repository",
            f"{who} may read {found.repository}, and not write: agents cannot take issues there.",
            "Ask for write permission, or use another token.",
        )
    else:
        yield ok("github-repository", f"GitHub answers; this clone acts as {who}.")


def _features(hub: GitHubRepository) -> str:
    """Describe the server's features in words."""
    known = {name: hub.has(key) for key, name in FEATURES.items()}
    has = [name for name, supported in known.items() if supported]
    lacks = [name for name, supported in known.items() if supported is False]
    parts = [f"with {', '.join(has)}"] * bool(has) + [f"without {', '.join(lacks)}"] * bool(lacks)
    return f" ({'; '.join(parts)})" if parts else ""


def _login_hint(ws: Workspace, place: RepositoryPlace) -> str:
    ours = token_hosts.is_githubs(place.host)
    names = token_hosts.OF_GITHUB if ours else token_hosts.OF_ENTERPRISE
    first = (
        ""
        if access.may_have_a_token(ws, place)
        else f"set GH_HOST to {place.host}, if you trust it; then "
    )
    return f"To use it: {first}gh auth login --hostname {place.host}, or set {names[0]}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _s(number: int) -> str:
    return "s" if number == 1 else ""
