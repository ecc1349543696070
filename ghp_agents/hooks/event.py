"""An event from any client, and the reply to it."""

from ghp_agents.hotpath.light_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.messages import DecisionReply, HookFields, HookReply

KINDS = ("start", "prompt", "edit", "batch", "stop", "compact", "end", "wait", "fail")  # of events
UNSHOWN = (
    "edits",
    "model",
    "printed",
    "reported",
    "transcript",
)  # fields that follow from the message
# The kinds of tool use that presence distinguishes.
EDITED, RAN, READ, SEARCHED, USED = "edited", "ran", "read", "searched", "used"


@dataclass
class ToolUse:
    """One use of a tool: its kind, and the files, command or tool."""

    verb: str
    what: "Sequence[str]"
    is_foreign: bool = False  # of no tool of the client's own, and it may change files


class UnknownEditError(Exception):
    """The file's content after an edit cannot be computed; mostly the edit itself will fail."""


@dataclass
class ToolEdit:
    """A tool that is about to edit files, its arguments, and the folder that its paths are in."""

    tool: str
    arguments: "Any"
    folder: str = ""  # relative to the event's cwd, or absolute
    sections: "dict[str, Any] | None" = None  # of a patch, by path, once it was parsed


@dataclass
class Event:
    """An event; its kind is one of KINDS."""

    client: str
    kind: str
    name: str  # the client's own name; its schema wants it back
    session: str | None
    cwd: str | None
    paths: "Sequence[str]" = ()  # to be edited; may be relative to cwd
    edits: "Sequence[ToolEdit]" = ()  # the tools that edit them
    tool_uses: "Sequence[ToolUse]" = ()  # oldest first
    hears: bool = False  # whether the agent gets the reply's context
    takes_news: bool = True  # if it hears; a sub-agent must not take its agent's
    goes_on: bool = False  # no real start or end: compacted, or cleared in the same process
    resumed: bool = False  # a start with the transcript of an earlier session
    pid: int | None = None  # of the agent, if the client sends it
    about: str = ""  # the kind of a notification or an error
    message: str = ""  # of an error
    printed: str = ""  # what the tools of a batch answered, if the client tells
    transcript: str = ""  # the file with the session, if the client names one
    last_line: bytes = b""  # a part of the line about this event in `transcript`, if it has one
    model: str = ""
    socket: str = ""  # of a plugin of ours: a line on it begins a turn
    reported: "Mapping[str, Any] | None" = None  # counts of use that the message has

    def __repr__(self) -> str:
        # Edits are as large as files, and follow from the message.
        shown = {name: value for name, value in vars(self).items() if name not in UNSHOWN}
        shown["paths"] = [*self.paths]
        fields = [f"{name}={value!r}" for name, value in shown.items()]
        return f"Event({', '.join(fields)})"


@dataclass
class Reply:
    """The reply to the agent; usually empty."""

    deny: str = ""  # why the edit is refused, and what to do next
    context: str = ""  # statements of fact
    environ: "Mapping[str, str] | None" = None  # for the commands that the agent runs
    on_sent: "Callable[[], None] | None" = None  # called after the reply was printed


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
        self.shells, self._reads, self._searches = runs, reads, searches
        self._sessions = sessions
        self._edited = edited or self._edited_path
        self._edit = edit

    def parse(self, payload: "Mapping[str, Any]") -> Event | None:
        """The event in a message; None if we do not handle it."""
        name = text(payload, "hook_event_name")
        kind = self.kinds.get(name)
        tool, arguments = text(payload, "tool_name"), payload.get("tool_input")
        edited = self._edited(tool, arguments) if kind == "edit" else ()
        folder = text(payload, "cwd") or None
        is_foreign = edited is None and _may_be_foreign(tool)
        if is_foreign:
            from ghp_agents.hooks import paths

            edited = paths.of_foreign_tool(self.name, tool, arguments, folder, patched) or None
        is_part = bool(text(payload, "agent_id"))  # a sub-agent, whose end is not the agent's
        if kind is None or edited is None or (is_part and kind in ("stop", "fail")):
            return None
        # News is for the agent, which does not see what a sub-agent is told. A turn that a hook has
        # extended is not extended again.
        hears = kind in self.hears and not is_part
        return Event(
            self.name,
            kind,
            name,
            first(payload, self._sessions) or None,
            folder,
            paths=edited,
            edits=[_foreign(tool, arguments) if is_foreign else self._edit(tool, arguments)]
            if kind == "edit"
            else (),
            tool_uses=[self.use_after(tool, arguments, folder)] if kind == "batch" and tool else (),
            hears=hears and (kind != "stop" or payload.get("stop_hook_active") is False),
            goes_on=_goes_on(kind, payload),
            resumed=kind == "start" and payload.get("source") == "resume",
            about=_about(kind, payload),
            message=text(payload, "last_assistant_message") if kind == "fail" else "",
            printed=text(payload, "tool_response") if kind == "batch" else "",
            transcript=text(payload, "transcript_path"),
            model=text(payload, "model"),
        )

    def lines(self, tool: str, arguments: "Any") -> "list[str] | None":
        """The shell lines that a tool is given, at each key that may have one; None for a tool that
        runs none."""
        if tool not in self.shells:
            return None
        return [line for key in self._commands if (line := text(arguments, key))]

    def tool_use(self, tool: str, arguments: "Any") -> ToolUse:
        """What the agent did with a tool."""
        edited = self._edited(tool, arguments)
        if edited is not None:
            return ToolUse(EDITED, edited)
        if tool in self.shells:
            return ToolUse(RAN, [first(arguments, self._commands)])
        if tool in self._reads:
            return ToolUse(READ, [first(arguments, self._paths)])
        return ToolUse(SEARCHED, []) if tool in self._searches else ToolUse(USED, [tool])

    def use_after(self, tool: str, arguments: "Any", cwd: str | None) -> ToolUse:
        """What the agent did with a tool; tools of MCP servers may have edited files, too."""
        use = self.tool_use(tool, arguments)
        if use.verb != USED or not _may_be_foreign(tool):
            return use
        from ghp_agents.hooks import paths
        from ghp_agents.hotpath.calling_client import may_edit

        edited = paths.of_foreign_tool(self.name, tool, arguments, cwd, patched)
        if edited:
            return ToolUse(EDITED, edited, is_foreign=True)
        return ToolUse(USED, use.what, is_foreign=may_edit(self.name, tool))

    def _edited_path(self, tool: str, arguments: "Any") -> "Sequence[str] | None":
        path = first(arguments, self._paths)
        return ([path] if path else ()) if tool in self.edits else None


def _may_be_foreign(tool: str) -> bool:
    """Whether a tool may be of an MCP server; whose it is, costs imports to tell."""
    return "_" in tool or ":" in tool or "-" in tool


def _foreign(tool: str, arguments: "Any") -> ToolEdit:
    """What a tool of an MCP server does, if it writes one whole file or a patch; else unknown."""
    from ghp_agents.hooks import paths

    patch = paths.patch_in(arguments)
    if patch:
        return ToolEdit("apply_patch", {"command": patch})
    is_whole = isinstance(arguments, dict) and set(arguments) == {"path", "content"}
    return ToolEdit(tool, {"content": arguments["content"]} if is_whole else None)


def _goes_on(kind: str, payload: "Mapping[str, Any]") -> bool:
    """Whether the agent's process continues after what looks like a start or an end."""
    if kind == "start":
        return text(payload, "source") in ("clear", "compact")
    return kind == "end" and text(payload, "reason") == "clear"


def _about(kind: str, payload: "Mapping[str, Any]") -> str:
    """The kind of a notification, or of the error that ended a turn."""
    key = {"wait": "notification_type", "fail": "error"}.get(kind, "")
    return text(payload, key) if key else ""


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
