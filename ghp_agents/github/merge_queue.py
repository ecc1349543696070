"""GitHub's merge queue: a pull request enters it, and a later sync reads the result.

Where a rule requires the queue, GitHub answers a merge with 405. Only GraphQL can enqueue.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.api import errors
from ghp_agents.github.api.errors import HubError
from ghp_agents.hotpath import news_flag
from ghp_agents.pulls.pull import EnqueuedError, Pull
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

FILE = "hub/enqueued.json"  # in the folder of caches: what this clone put into the queue
MOST = 20  # pull requests that are looked at
PAUSE = 60.0  # seconds between two looks
_LOOK = (
    "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name)"
    " { pullRequest(number: $number) { id state isInMergeQueue mergeQueueEntry { position } } } }"
)
_ENQUEUE = (
    "mutation($id: ID!, $head: GitObjectID!) { enqueuePullRequest(input: {pullRequestId: $id, "
    "expectedHeadOid: $head}) { mergeQueueEntry { position } } }"
)
_ENDS = {
    "MERGED": "GitHub's merge queue merged #{number}. `ghp agent-merge {number}` cleans up.",
    "CLOSED": "#{number} was closed in GitHub's merge queue and is not merged.",
    "OPEN": "#{number} left GitHub's merge queue and is not merged: a check failed there, or "
    "somebody took it out. Its page has the reason; `ghp agent-merge {number}` enqueues it again.",
}


class QueueEntry(NamedTuple):
    """A pull request that this clone put into the queue."""

    by: str
    at: float  # seconds; of the last look
    end: str = ""  # how it ended, in words


def is_required(error: HubError) -> bool:
    """Whether GitHub refuses a merge because of the queue."""
    return error.status == 405 and "merge queue" in error.message.lower()


def enqueue(ws: Workspace, hub: "GitHubRepository", pull: Pull, head: str, by: Actor) -> None:
    """Put a pull request into the queue, unless it is there, and raise EnqueuedError. Raises
    RefusedError if GitHub refuses, UnknownError."""
    pull_data = _look(hub, pull.number)
    place = _position(pull_data)
    if place is None:
        try:
            done = hub.graphql(
                _ENQUEUE,
                {"id": str(pull_data.get("id")), "head": head},
                find_existing=lambda: _found(hub, pull.number),
            )
        except errors.HubError as error:
            raise RefusedError(
                f"GitHub did not put #{pull.number} into its merge queue: "
                f"{error.message or error}.",
                hint=f"A review or a check may be missing; see {pull.url}.",
            ) from None
        place = _number(_at(done, "enqueuePullRequest", "mergeQueueEntry", "position"))
    file = _file(ws)
    file.write({**file.read(), pull.number: QueueEntry(by.name, ws.clock.now())})
    raise EnqueuedError(pull, place or 0)


def place_of(hub: "GitHubRepository", number: int) -> int | None:
    """The place of a pull request in the queue; None if it is not there, or if the server has no
    queues. Raises UnknownError."""
    try:
        return _position(_look(hub, number))
    except errors.HubError:
        return None


def observe(ws: Workspace, hub: "GitHubRepository") -> list[str]:
    """Look how the pull requests that this clone enqueued ended, at most once a minute; return
    notes, and wake the agents."""
    file = _file(ws)
    entries, now = file.read(), ws.clock.now()
    due = [
        number
        for number, entry in entries.items()
        if not entry.end and not 0 <= now - entry.at < PAUSE
    ]
    notes: list[str] = []
    for number in sorted(due)[:MOST]:
        try:
            pull = _look(hub, number)
        except errors.NoAnswerError:
            break
        except errors.HubError:
            pull = {}
        is_over = pull.get("isInMergeQueue") is False
        end = _ENDS.get(str(pull.get("state")), "") if is_over else ""
        entries[number] = entries[number]._replace(at=now, end=end.format(number=number))
        if end:
            notes.append(entries[number].end)
            news_flag.set_flag(ws.folders, entries[number].by)
    if due:
        file.write(dict(sorted(entries.items())[-MOST:]))
    return notes


def news(ws: Workspace, agent: AgentName) -> list[tuple[str, str]]:
    """How the pull requests that an agent enqueued ended, each with a key for its delivery."""
    entries = _file(ws).read().items()
    return [
        (entry.end, f"enqueued/{number}/{int(entry.at)}")
        for number, entry in entries
        if entry.by == agent and entry.end
    ]


def _look(hub: "GitHubRepository", number: int) -> Mapping[str, Any]:
    owner, _, name = hub.repository.partition("/")
    data = hub.graphql(_LOOK, {"owner": owner, "name": name, "number": number})
    pull = _at(data, "repository", "pullRequest")
    return pull if isinstance(pull, dict) else {}


def _found(hub: "GitHubRepository", number: int) -> Any | None:
    """What the mutation would answer, if the pull request is in the queue."""
    pull = _look(hub, number)
    entry = pull.get("mergeQueueEntry")
    return {"enqueuePullRequest": {"mergeQueueEntry": entry}} if entry else None


def _position(pull: Mapping[str, Any]) -> int | None:
    if pull.get("isInMergeQueue") is not True:
        return None
    return _number(_at(pull, "mergeQueueEntry", "position")) or 0


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1_000_000 else None


def _file(ws: Workspace) -> JsonFile[dict[int, QueueEntry]]:
    return JsonFile(ws.cache_dir / FILE, _decode, dict)


def _decode(data: Any) -> dict[int, QueueEntry]:
    return {
        int(number): QueueEntry(str(by), float(at), str(end))
        for number, (by, at, end) in data.items()
    }
