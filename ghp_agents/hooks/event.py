"""An event from any client, and the reply to it.

Plain classes: importing `typing.NamedTuple` would cost half as much as starting Python.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.messages import DecisionReply, HookFields, HookReply

KINDS = ("start", "prompt", "edit", "batch", "stop", "compact", "end", "wait")  # of events
UNSHOWN = (
    "edits",
    "model",
    "printed",
    "reported",
    "transcript",
)  # fields that follow from the message
# The kinds of tool use that presence distinguishes.
EDITED, RAN, READ, SEARCHED, USED = "edited", "ran", "read", "searched", "used"


class ToolUse:
    """One use of a tool: its kind, and the files, command or tool."""

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


class UnknownEditError(Exception):
    """The file's content after an edit cannot be computed; mostly the edit itself will fail."""


class ToolEdit:
    """A tool that is about to edit files, its arguments, and the folder that its paths are in."""

    __slots__ = ("arguments", "folder", "sections", "tool")

    def __init__(self, tool: str, arguments: "Any", folder: str = "") -> None:
        self.tool = tool
        self.arguments = arguments
        self.folder = folder  # relative to the event's cwd, or absolute
        self.sections: dict[str, Any] | None = None  # of a patch, by path, once it was parsed


class Event:
    """An event; its kind is one of KINDS."""

    __slots__ = (
        "about",
        "client",
        "cwd",
        "edits",
        "goes_on",
        "hears",
        "kind",
        "last_line",
        "model",
        "name",
        "paths",
        "pid",
        "printed",
        "reported",
        "resumed",
        "session",
        "socket",
        "takes_news",
        "tool_uses",
        "transcript",
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
        edits: "Sequence[ToolEdit]" = (),
        tool_uses: "Sequence[ToolUse]" = (),
        hears: bool = False,
        goes_on: bool = False,
        resumed: bool = False,
        pid: int | None = None,
        about: str = "",
        printed: str = "",
        transcript: str = "",
        model: str = "",
    ) -> None:
        self.transcript = transcript  # the file with the session, if the client names one
        self.last_line = b""  # a part of the line about this event in `transcript`, if it has one
        self.model = model
        self.socket = ""  # of a plugin of ours: a line on it begins a turn
        self.reported: Mapping[str, Any] | None = None  # counts of use that the message has
        self.printed = printed  # what the tools of a batch answered, if the client tells
        self.about = about  # the kind of a notification
        self.client = client
        self.kind = kind
        self.name = name  # the client's own name; its schema wants it back
        self.session = session
        self.cwd = cwd
        self.paths = list(paths)  # to be edited; may be relative to cwd
        self.edits = edits  # the tools that edit them
        self.tool_uses = tool_uses  # oldest first
        self.hears = hears  # whether the agent gets the reply's context
        self.takes_news = True  # if it hears; a sub-agent must not take its agent's
        self.goes_on = goes_on  # no real start or end: compacted, or cleared in the same process
        self.resumed = resumed  # a start with the transcript of an earlier session
        self.pid = pid  # of the agent, if the client sends it

    def __repr__(self) -> str:
        # Edits are as large as files, and follow from the message.
        names = [name for name in self.__slots__ if name not in UNSHOWN]
        fields = [f"{name}={getattr(self, name)!r}" for name in names]
        return f"Event({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Reply:
    """The reply to the agent; usually empty."""

    __slots__ = ("context", "deny", "environ", "on_sent")

    def __init__(
        self,
        *,
        deny: str = "",
        context: str = "",
        environ: "Mapping[str, str] | None" = None,
        on_sent: "Callable[[], None] | None" = None,
    ) -> None:
        self.deny = deny  # why the edit is refused, and what to do next
        self.context = context  # statements of fact
        self.environ = environ or {}  # for the commands that the agent runs
        self.on_sent = on_sent  # called after the reply was printed


class Client:
    """How a client names its events and tools.

    `events` are its names for the kinds, in their order; an empty one is a kind that it does not
    have. The tools are those that edit, run commands, read and search; `paths` and `commands` are
    the keys of their arguments. `edited` returns the paths that a use of a tool edits; None for a
    tool that does not edit. `sessions` are the keys of the session's id, the first that is there
    counts.
    """

    def __init__(
        self,
        name: str,
        events: "Sequence[str]",
        *,
        hears: "Container[str]",
        paths: "Sequence[str]",
        edits: "Container[str]" = (),
        runs: "Container[str]" = (),
        reads: "Container[str]" = (),
        searches: "Container[str]" = (),
        commands: "Sequence[str]" = ("command",),
        sessions: "Sequence[str]" = ("session_id",),
        edited: "Callable[[str, Any], Sequence[str] | None] | None" = None,
        edit: "Callable[[str, Any], ToolEdit]" = ToolEdit,
    ) -> None:
        self.name = name
        self.kinds = {event: kind for event, kind in zip(events, KINDS, strict=False) if event}
        self.hears = hears  # the kinds of events at which the agent gets context
        self.edits = edits
        self._paths, self._commands = paths, commands
        self._runs, self._reads, self._searches = runs, reads, searches
        self._sessions = sessions
        self._edited = edited or self._edited_path
        self._edit = edit

    def parse(self, payload: "Mapping[str, Any]") -> Event | None:
        """The event in a message; None if we do not handle it."""
        name = text(payload, "hook_event_name")
        kind = self.kinds.get(name)
        tool, arguments = text(payload, "tool_name"), payload.get("tool_input")
        edited = self._edited(tool, arguments) if kind == "edit" else ()
        is_part = bool(text(payload, "agent_id"))  # a sub-agent, whose end is not the agent's
        if kind is None or edited is None or (is_part and kind == "stop"):
            return None
        # News is for the agent, which does not see what a sub-agent is told. A turn that a hook has
        # extended is not extended again.
        hears = kind in self.hears and not is_part
        return Event(
            self.name,
            kind,
            name,
            first(payload, self._sessions) or None,
            text(payload, "cwd") or None,
            paths=edited,
            edits=[self._edit(tool, arguments)] if kind == "edit" else (),
            tool_uses=[self.tool_use(tool, arguments)] if kind == "batch" and tool else (),
            hears=hears and (kind != "stop" or payload.get("stop_hook_active") is False),
            goes_on=_goes_on(kind, payload),
            resumed=kind == "start" and payload.get("source") == "resume",
            about=text(payload, "notification_type") if kind == "wait" else "",
            printed=text(payload, "tool_response") if kind == "batch" else "",
            transcript=text(payload, "transcript_path"),
            model=text(payload, "model"),
        )

    def tool_use(self, tool: str, arguments: "Any") -> ToolUse:
        """What the agent did with a tool."""
        edited = self._edited(tool, arguments)
        if edited is not None:
            return ToolUse(EDITED, edited)
        if tool in self._runs:
            return ToolUse(RAN, [first(arguments, self._commands)])
        if tool in self._reads:
            return ToolUse(READ, [first(arguments, self._paths)])
        return ToolUse(SEARCHED, []) if tool in self._searches else ToolUse(USED, [tool])

    def _edited_path(self, tool: str, arguments: "Any") -> "Sequence[str] | None":
        path = first(arguments, self._paths)
        return ([path] if path else ()) if tool in self.edits else None


def _goes_on(kind: str, payload: "Mapping[str, Any]") -> bool:
    """Whether the agent's process continues after what looks like a start or an end."""
    if kind == "start":
        return text(payload, "source") in ("clear", "compact")
    return kind == "end" and text(payload, "reason") == "clear"


def hook_output(event: Event, reply: Reply) -> "HookReply":
    """The reply in the schema that Claude Code and Codex share."""
    fields: HookFields = {"hookEventName": event.name}
    if reply.deny and event.kind == "edit":
        fields["permissionDecision"] = "deny"
        fields["permissionDecisionReason"] = reply.deny
    elif reply.context and event.hears:
        fields["additionalContext"] = reply.context
    return {"hookSpecificOutput": fields} if len(fields) > 1 else {}


def to_go_on(event: Event, reply: Reply) -> "DecisionReply | None":
    """The reply that extends a turn with the news as its reason; None for other events."""
    if event.kind != "stop" or not (reply.context and event.hears):
        return None
    return {"decision": "block", "reason": reply.context}


def text(payload: "Any", key: str) -> str:
    """The string at `key`; empty if it is missing or not a string."""
    value = payload.get(key) if isinstance(payload, dict) else None
    return value if isinstance(value, str) else ""


def first(payload: "Any", keys: "Sequence[str]") -> str:
    """The first non-empty string at one of `keys`."""
    for key in keys:
        value = text(payload, key)
        if value:
            return value
    return ""


def patched(patch: str) -> "list[str]":
    """The files that a patch in the form of `apply_patch` adds, changes, deletes and moves to."""
    marks = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
    paths: dict[str, None] = {}
    for line in patch.split("\n"):
        bare = line.strip()
        for mark in marks:
            if bare.startswith(mark) and bare[len(mark) :].strip():
                paths[bare[len(mark) :].strip()] = None
    return list(paths)
