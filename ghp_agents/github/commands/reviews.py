"""Reviews on GitHub, for the agents whose pull requests they are about."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ghp_agents.core.ids import Actor, count, one_line
from ghp_agents.github.api.errors import GoneError, MissingError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands import notices
from ghp_agents.github.commands.inbox import actor_of
from ghp_agents.hotpath import news_flag
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.state.presence import number
from ghp_agents.workspace import Workspace

MOST = 20  # reviews of a pull request that are shown, and comments of one on lines
TEXT_LIMIT = 4_000  # characters of one comment
VERDICTS = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "requested changes to",
    "COMMENTED": "reviewed",
}


class HostReview(NamedTuple):
    """A review by an account with write access."""

    id: str
    by: Actor
    state: str  # of VERDICTS
    head: str  # the commit that was reviewed
    text: str  # with the comments on lines; others' words


def of_pull(ws: Workspace, hub: GitHubRepository, agent: str, pull: int) -> list[HostReview]:
    """The reviews of an agent's pull request by others, oldest first. Raises GhpError."""
    others = [*_of_others(ws, hub, agent, pull)][-MOST:]
    inline = _lines(hub, pull) if others else []
    return [
        HostReview(
            str(raw["id"]), actor_of(ws, _login(raw)), str(raw["state"]),
            str(raw.get("commit_id") or ""), _whole(raw, inline),
        )
        for raw in others
    ]  # fmt: skip


def _lines(hub: GitHubRepository, pull: int) -> list[Mapping[str, Any]]:
    """The comments on lines of a pull request. Sends a request."""
    return [raw for raw in hub.get_all(f"pulls/{pull}/comments") if isinstance(raw, dict)]


def _whole(raw: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> str:
    about = [line for line in lines if line.get("pull_request_review_id") == raw["id"]]
    parts = [str(raw.get("body") or "")[:TEXT_LIMIT]]
    for comment in about[:MOST]:
        place = f"{one_line(str(comment.get('path')), 200)}:{comment.get('line') or '?'}"
        parts.append(f"{place}: {str(comment.get('body') or '')[:TEXT_LIMIT]}")
    return "\n\n".join(filter(None, parts))


def remember_reviews(ctx: Context, hub: GitHubRepository) -> None:
    """Read the reviews of the pull requests of this clone's agents, and wake agents that have a new
    one. Sends a conditional request for each of these pull requests."""
    before = notices.reviews_file(ctx.ws).read()
    texts: dict[str, list[tuple[int, str]]] = {}
    for agent in presence.agents_here(ctx.ws):
        pull = number(ctx.ws.presence(agent) or {}, "pull")
        if not pull:
            continue
        with suppress(MissingError, GoneError):
            texts[agent] = _read(ctx.ws, hub, agent, pull, before.get(agent, []))
        if texts.get(agent, []) != before.get(agent, []):
            news_flag.set_flag(ctx.ws.folders, agent)
    if texts != before:
        notices.reviews_file(ctx.ws).write(texts)


def _read(
    ws: Workspace,
    hub: GitHubRepository,
    agent: str,
    pull: int,
    before: Sequence[tuple[int, str]],
) -> list[tuple[int, str]]:
    texts = dict(before)
    others = list(_of_others(ws, hub, agent, pull))[-MOST:]
    lines = [] if all(raw["id"] in texts for raw in others) else _lines(hub, pull)
    return [
        (raw["id"], texts.get(raw["id"]) or _text(ws, raw, pull, lines)) for raw in others
    ]  # fmt: skip


def _of_others(
    ws: Workspace, hub: GitHubRepository, agent: str, pull: int
) -> Iterator[Mapping[str, Any]]:
    """The reviews by other accounts with write access, oldest first."""
    for raw in hub.get_all(f"pulls/{pull}/reviews"):
        if not isinstance(raw, dict) or type(raw.get("id")) is not int:
            continue
        login = _login(raw)
        if raw.get("state") not in VERDICTS or actor_of(ws, login) == Actor(agent):
            continue
        if hub.may_command(login):
            yield raw


def _text(
    ws: Workspace, raw: Mapping[str, Any], pull: int, lines: Sequence[Mapping[str, Any]]
) -> str:
    by = actor_of(ws, _login(raw))
    words = _first_line(raw)
    what = f": {phrase(words)}." if words else "."
    about = [line for line in lines if line.get("pull_request_review_id") == raw["id"]]
    if about:
        place = file(str(about[0].get("path") or "?"))
        first = f"the first is on {place}: {phrase(_first_line(about[0]))}"
        what += f" With {count(len(about), 'comment')} on the code; {first}."
    verdict = VERDICTS[str(raw["state"])]
    return (
        f"{named(by.name, by.is_person)} {verdict} pull request #{pull}{what} "
        "Read it all on GitHub."
    )


def _first_line(raw: Mapping[str, Any]) -> str:
    text = str(raw.get("body") or "")
    return next((line for line in text.splitlines() if line.strip()), "")


def _login(raw: Mapping[str, Any]) -> str:
    return str((raw.get("user") or {}).get("login") or "ghost")
