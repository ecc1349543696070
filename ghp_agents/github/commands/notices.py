"""News for an agent from people on GitHub: orders to stop, and assigned issues."""

from collections.abc import Iterable, Sequence
from typing import Any

from ghp_agents.core.ids import Actor, AgentName, CloneId, Timestamp
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.commands import messages
from ghp_agents.hotpath import news_flag
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.issues import comment_commands
from ghp_agents.issues.comment_commands import FOLDER, Obeyed
from ghp_agents.issues.issue import PROVISIONAL, Issue
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence import start_command
from ghp_agents.state.events import CLOSED_THERE
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.presence import issue_of
from ghp_agents.workspace import Workspace, now_text
from ghp_agents.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.commands.inbox import CommentInbox

REMARKS = "hub/remarks.json"  # in the folder of caches; by agent: ids and texts
CLOSED = "hub/closed.json"  # the issues that were open, and those that were closed since
REVIEWS = "hub/reviews.json"  # the same for reviews
MOST = 20  # comments that are kept for each agent
ASSIGNED = "hub/assigned.json"  # in the folder of caches; by agent: issue and time first seen

Closed = tuple[list[int], list[tuple[int, str, int]]]  # open; closed with time and clock
News = list[tuple[str, str]]  # the text, and the key that records its delivery


def orders(world: World, agent: AgentName) -> News:
    """The texts of `stops`."""
    orders_to_stop = stops(world, agent)
    return [(messages.stop(obeyed), f"command/{obeyed.id}") for obeyed in orders_to_stop]


def stops(world: World, agent: AgentName) -> list[Obeyed]:
    """Orders to stop, as long as the agent holds the issue with the same generation."""
    records = world.snapshot.files(FOLDER)
    if not records:
        return []
    meant = comment_commands.told_to_stop(comment_commands.read_commands(records)[0], agent)
    current: list[Obeyed] = []
    for obeyed, act in meant:
        lock = world.claims.get(obeyed.issue)
        if lock and (lock.holder, lock.generation) == (agent, act.generation):
            current.append(obeyed)
    return current


def assignments(ws: Workspace, agent: AgentName) -> News:
    """Issues assigned to the agent on GitHub as of the last sync, except its current one."""
    mine = _file(ws).read().get(agent)
    if not mine:
        return []
    current_issue = issue_of(ws.presence(agent) or {})
    return [
        (
            messages.assigned(number, start_command.of_reader(ws, number)),
            f"assigned/{number}/{since}",
        )
        for number, since in sorted(mine.items())
        if number != current_issue
    ]


def remember(ws: Workspace, issues: Iterable[Issue]) -> None:
    """Store the assignments; wake agents that have a new one."""
    previous = _file(ws).read()
    now: dict[str, dict[int, float]] = {}
    for issue in issues:
        if issue.state == "closed" or issue.number >= PROVISIONAL:
            continue
        for name in filter(is_name, issue.assignees):
            since = previous.get(name, {}).get(issue.number, ws.clock.now())
            now.setdefault(name, {})[issue.number] = since
    if now == previous:
        return
    _file(ws).write(now)  # if that fails, it is delivered again
    for name in now:
        if now[name].keys() - previous.get(name, {}).keys() and ws.presence(name):
            news_flag.set_flag(ws.folders, name)


def remember_closed(ctx: Context, issues: Sequence[Issue]) -> None:
    """Store which issues were closed since the last look: GitHub's changes are in no ledger."""
    was_open, stored = _closed_file(ctx.ws).read()
    opened, closed = (
        [issue.number for issue in issues if issue.state == state] for state in ("open", "closed")
    )
    if was_open == opened:
        return
    at, clock = now_text(ctx.ws), ctx.store.snapshot().clock
    new = [(number, at, clock) for number in closed if number in was_open]
    _closed_file(ctx.ws).write((opened, [*stored, *new][-MOST:]))


def closed(ws: Workspace, since: str) -> list[LedgerEntry]:
    """The issues that were closed on GitHub since a time, as entries that agents hear of."""
    return [
        LedgerEntry(
            clock, CloneId(""), f"{CLOSED_THERE}/{number}/{at}", CLOSED_THERE, "", f"#{number}",
            Timestamp(at), is_person=True, issue=number,
        )
        for number, at, clock in _closed_file(ws).read()[1]
        if at >= since
    ]  # fmt: skip


def _closed_file(ws: Workspace) -> JsonFile[Closed]:
    return JsonFile(ws.cache_dir / CLOSED, _decode_closed, lambda: ([], []))


def _decode_closed(data: Any) -> Closed:
    opened, rows = data
    closures = [(int(number), str(at), int(clock)) for number, at, clock in rows]
    return [int(number) for number in opened], closures


def remember_remarks(ctx: Context, inbox: "CommentInbox") -> None:
    """Store the new comments on what agents of this clone work on; wake these agents. Comments of
    accounts without write access are for people."""
    if not inbox.remarks:
        return
    claims = ctx.world.claims
    works = {name: ctx.ws.presence(name) or {} for name in presence.agents_here(ctx.ws)}
    before = _remarks_file(ctx.ws).read()
    notices = {**before}
    for remark in inbox.remarks:
        claim = claims.get(remark.issue)
        for name, fields in works.items():
            holds = claim and (claim.holder == name and claim.acquired_at <= remark.at)
            is_pull = not holds and fields.get("pull") == remark.issue
            if not (holds or is_pull) or remark.by == Actor(name) or not inbox.may_write(remark):
                continue
            what = f"pull request #{remark.issue}" if is_pull else f"#{remark.issue}"
            by = named(remark.by.name, remark.by.is_person)
            text = f"{by} commented on {what}: {phrase(remark.line)}. Read it all on GitHub."
            others = [notice for notice in notices.get(name, []) if notice[0] != remark.id]
            notices[name] = [*others[1 - MOST :], (remark.id, text)]
            news_flag.set_flag(ctx.ws.folders, name)
    if notices != before:
        _remarks_file(ctx.ws).write(notices)


def remarks(ws: Workspace, agent: AgentName) -> News:
    """The comments of others on what the agent works on."""
    notices = _remarks_file(ws).read().get(agent, [])
    return [(text, f"comment/{number}") for number, text in notices]


def reviews(ws: Workspace, agent: AgentName) -> News:
    """The reviews by others of the agent's pull request."""
    notices = reviews_file(ws).read().get(agent, [])
    return [(text, f"review/{number}") for number, text in notices]


def reviews_file(ws: Workspace) -> JsonFile[dict[str, list[tuple[int, str]]]]:
    """The reviews of each agent's pull request: ids and texts."""
    return JsonFile(ws.cache_dir / REVIEWS, _decode_remarks, dict)


def _remarks_file(ws: Workspace) -> JsonFile[dict[str, list[tuple[int, str]]]]:
    return JsonFile(ws.cache_dir / REMARKS, _decode_remarks, dict)


def _decode_remarks(data: Any) -> dict[str, list[tuple[int, str]]]:
    return {
        str(name): [(int(number), str(text)) for number, text in pairs]
        for name, pairs in data.items()
    }


def _file(ws: Workspace) -> JsonFile[dict[str, dict[int, float]]]:
    return JsonFile(ws.cache_dir / ASSIGNED, _decode, dict)


def _decode(data: Any) -> dict[str, dict[int, float]]:
    return {
        str(name): {int(number): float(since) for number, since in numbers.items()}
        for name, numbers in data.items()
    }
