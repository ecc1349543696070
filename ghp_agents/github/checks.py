"""The doctor's checks of GitHub: access, write permission, and waiting writes."""

from collections.abc import Callable, Iterator
from typing import Any

from ghp_agents.core import token_hosts
from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Finding, error, info, ok, warning
from ghp_agents.core.ids import count, one_line
from ghp_agents.github import moved
from ghp_agents.github.api import access, status
from ghp_agents.github.api.access import RepositoryPlace
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.api.status import GitHubStatus
from ghp_agents.github.tokenless import overview
from ghp_agents.github.tokenless.overview import TokenlessOverview
from ghp_agents.github.tokenless.place import Tracker
from ghp_agents.github.tokenless.tracker import LOGIN
from ghp_agents.ports import Snapshot
from ghp_agents.workspace import Workspace

TAKE_OVER = "After 7 days without a publication, the record is replaced."
REPEAT = "Ask a person, or run it again in a clone with a token."
FEATURES = {"sub-issues": "sub-issues", "dependencies": "dependencies", "reactions": "reactions"}
FEW = 0.1  # of the rate limit: below it there is a warning


def check_here(
    ws: Workspace, hub: Callable[[], GitHubRepository | None], snapshot: Snapshot
) -> Iterator[Finding]:
    """Check what is known without a request."""
    summary = overview.overview(snapshot)
    yield from check_access(ws, hub, summary.tracker)
    repository = hub()
    yield from check_requests(summary, has_token=repository is not None)
    if repository:
        yield from check_outbox(repository)
        yield from check_unread(repository)
        yield from check_limit(ws, repository)


def check_access(
    ws: Workspace, hub: Callable[[], GitHubRepository | None], tracker: Tracker | None = None
) -> Iterator[Finding]:
    """Report where issues are, and why; `tracker` is what clones with a token recorded. Raises
    NotSetUpError if GitHub is configured and unavailable."""
    repository = hub()
    if repository:
        yield ok("github", f"Issues are on GitHub: {repository.url}{_features(repository)}.")
        mine = f"{repository.host}/{repository.repository}"
        others = tracker.place if tracker else ""
        if others and others.casefold() != mine.casefold():
            yield warning(
                "github-tracker",
                f"Other clones take issues from {others}, this one from {mine}: both use the same "
                "claims.",
                f"Name one repository in all clones: `agents.github.repository`. {TAKE_OVER}",
            )
        return
    if tracker and ws.settings.tracker != "local" and ws.settings.push:
        yield info("github", overview.where(tracker, ws.clock.now()), LOGIN)
        return
    if tracker and ws.settings.push:
        yield warning(
            "github-tracker",
            f"Other clones take issues from {tracker.place}; this one keeps its own in git, and "
            "both use the same claims.",
            'Remove `"tracker": "local"`, or set it for everybody in .ghp/config.json on main.',
        )
    place = None if ws.settings.tracker == "local" else access.where(ws)
    if place is None:
        if other := access.unnamed(ws):
            yield warning("github", *access.describe_unnamed(ws, other))
        return  # not a GitHub repository
    why = "there is no token for it" if ws.settings.push else "`agents.push` is false"
    yield info(
        "github",
        f"Issues are kept in git, not on {place.host}/{place.repository}: {why}.",
        _login_hint(ws, place) if ws.settings.push else "",
    )


def check_requests(summary: TokenlessOverview, *, has_token: bool) -> Iterator[Finding]:
    """Report the requests of clones without a token that wait or were refused."""
    if summary.waits:
        remedy = "Send now: ghp agent-sync" if has_token else overview.SYNC
        yield info("github-waiting", f"Waiting for a clone with a token: {summary.waits}.", remedy)
    for entry, result in summary.refused:
        whose = f"{entry.says} by {one_line(entry.by.name, 80)}"
        yield warning("github-refused", f"Not sent to GitHub: {whose}: {result.why}", REPEAT)


def check_outbox(repository: GitHubRepository) -> Iterator[Finding]:
    """Report writes that wait to be sent, and writes that GitHub refused."""
    waiting = repository.outbox.waiting()
    if waiting:
        first = f"first: {waiting[0].says}"
        text = f"Not sent to GitHub yet: {count(len(waiting), 'write')}; {first}."
        yield warning("github-outbox", text, "Send now: ghp agent-sync")
    for refusal in repository.refused():
        yield warning(
            "github-outbox",
            f"Not sent to GitHub: {refusal.job.says}. {refusal.why}",
            "It is tried again within the hour, or with another token."
            if refusal.again
            else f"It is kept in {repository.outbox.folder / 'refused'}; delete that file to drop "
            "it.",
        )


def check_unread(repository: GitHubRepository) -> Iterator[Finding]:
    """Report issues that cannot be read from GitHub's response."""
    for number, why in repository.unread.items():
        yield warning(
            "github-unread",
            f"Skipped #{number}: cannot read it on GitHub: {why}.",
            f"Open it on GitHub: {repository.url}/issues/{number}",
        )


def check_limit(ws: Workspace, repository: GitHubRepository) -> Iterator[Finding]:
    """Report the remaining rate limit, as far as it is known without a request."""
    now = ws.clock.now()
    github = repository.status()
    if github.paused_until is not None:
        yield warning(
            "github-limit",
            f"{github.why_paused}.",
            f"Wait: this clone may send requests again in {ago(github.paused_until - now)}.",
        )
    elif github.remaining is not None and github.limit is not None:
        text = f"GitHub: {_limit_text(github, now)}."
        few = github.remaining < github.limit * FEW
        remedy = "Give agents another token, or run fewer agents."
        yield warning("github-limit", text, remedy) if few else ok("github-limit", text)


def in_short(ws: Workspace, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Return lines for `agent-status`, without any request; a warning has a hint."""
    github, now = status.seen(ws), ws.clock.now()
    yield from overview.in_short(snapshot, now, has_token=github is not None)
    if github is None:
        return
    if github.paused_until is not None:
        yield (
            f"{github.why_paused}.",
            f"Requests are allowed again in {ago(github.paused_until - now)}.",
        )
    elif github.remaining is not None:
        yield f"GitHub: {_limit_text(github, now)}.", ""
    if github.queued:
        yield (
            f"Not sent to GitHub yet: {count(github.queued, 'write')}.",
            "Run `ghp agent-sync` to send now.",
        )
    if github.refused:
        yield (
            f"GitHub rejected {count(github.refused, 'write')}.",
            "Run `ghp agent-doctor` for the reasons.",
        )


def _limit_text(github: GitHubStatus, now: float) -> str:
    text = f"{github.remaining} of {github.limit} requests left"
    return text + (f"; resets in {ago(github.resets - now)}" if github.resets else "")


def check_repository(hub: Callable[[], GitHubRepository | None]) -> Iterator[Finding]:
    """Ask GitHub about the repository and the token. Raises what the hub raises."""
    repository = hub()
    if repository is None:
        return
    answer: Any = repository.get("").body
    answer = answer if isinstance(answer, dict) else {}
    name = one_line(str(answer.get("full_name") or ""), 140)
    if name.casefold() not in ("", repository.repository.casefold()):
        text = f"{repository.repository} is now {name} on GitHub, which redirects."
        yield warning("github-moved", text, moved.HINT)
    if answer.get("has_issues") is False:
        yield error(
            "github-repository",
            f"Issues are disabled in {repository.repository}.",
            'Enable them in its settings, or keep issues in git: "agents": {"tracker": "local"}.',
        )
    allowed = answer.get("permissions")
    push = allowed.get("push") if isinstance(allowed, dict) else None
    who = repository.viewer()
    if push is False:
        yield warning(
            "github-repository",
            f"{who} can read {repository.repository} but not write, so agents cannot claim issues "
            "there.",
            "Ask for write access, or use another token.",
        )
    else:
        yield ok("github-repository", f"GitHub answers; this clone acts as {who}.")


def _features(hub: GitHubRepository) -> str:
    """Describe the server's features in words."""
    support = {name: hub.has(key) for key, name in FEATURES.items()}
    has = [name for name, supported in support.items() if supported]
    lacks = [name for name, supported in support.items() if supported is False]
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
