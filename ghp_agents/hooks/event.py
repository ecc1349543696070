"""One event of an agent, whatever client told it, and what is answered to it.

Plain classes: `typing.NamedTuple` alone would cost half as much as starting Python.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

# What a client's tool does to the world, as far as others want to know.
EDITED, RAN, READ, SEARCHED, USED = "edited", "ran", "read", "searched", "used"


class ToolUse:
    """One thing that the agent did: with which files, command or tool."""

    __slots__ = ("verb", "what")

    def __init__(self, verb: str, what: "Sequence[str]") -> None:
        self.verb = verb
        self.what = what

    def __repr__(self) -> str:
        return f"ToolUse({self.verb!r}, {self.what!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolUse) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Event:
    """What happened: one of `integrations.clients.events.KINDS`."""

    __slots__ = (
        "client",
        "cwd",
        "goes_on",
        "hears",
        "kind",
        "name",
        "paths",
        "pid",
        "session",
        "tool_uses",
    )

    def __init__(
        self,
        client: str,
        kind: str,
        name: str,
        session: str | None,
        cwd: str | None,
        *,
        paths: "Sequence[str]" = (),
        tool_uses: "Sequence[ToolUse]" = (),
        hears: bool = False,
        goes_on: bool = False,
        pid: int | None = None,
    ) -> None:
        self.client = client
        self.kind = kind
        self.name = name  # by the client's own word, which its schema wants back
        self.session = session
        self.cwd = cwd
        self.paths = paths  # to be edited; as the client says them, perhaps relative to cwd
        self.tool_uses = tool_uses  # what was done, oldest first
        self.hears = hears  # whether context that is answered now reaches the agent
        self.goes_on = goes_on  # a start that is none: the session was compacted
        self.pid = pid  # of the agent, where the client tells it

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name)!r}" for name in self.__slots__]
        return f"Event({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Reply:
    """What the agent is told. Nothing at all is the usual answer."""

    __slots__ = ("context", "deny", "environ", "on_sent")

    def __init__(
        self,
        *,
        deny: str = "",
        context: str = "",
        environ: "Mapping[str, str] | None" = None,
        on_sent: "Callable[[], None] | None" = None,
    ) -> None:
        self.deny = deny  # why the edit must not be made, and what next
        self.context = context  # statements of fact
        self.environ = environ or {}  # for the commands that the agent runs
        self.on_sent = on_sent  # what to remember once it was printed


# ------------------------------------------------------------- reading what clients send


def text(payload: "Any", key: str) -> str:
    """A text of a client's message; empty where there is none or it is something else."""
    found = payload.get(key) if isinstance(payload, dict) else None
    return found if isinstance(found, str) else ""


def first(payload: "Any", keys: "Sequence[str]") -> str:
    """The first text that there is under one of `keys`."""
    for key in keys:
        found = text(payload, key)
        if found:
            return found
    return ""


def patched(patch: str) -> "list[str]":
    """The files that a patch in the form of `apply_patch` adds, changes, deletes and moves to."""
    marks = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
    found: dict[str, None] = {}
    for line in patch.split("\n"):
        bare = line.strip()
        for mark in marks:
            if bare.startswith(mark) and bare[len(mark) :].strip():
                found[bare[len(mark) :].strip()] = None
    return list(found)
