"""The fast path of a heartbeat: it must cost about as much as starting Python.

It needs no lock for correctness and no git, and imports only tiny standard modules. Each agent is
the only writer of its presence file: a heartbeat builds the record, writes a temporary file and
replaces the old one. Everything else is left to the slow path.
"""

import os
import time

from ghp_agents.hotpath import boot_clock, fastjson, own_file, presence_file
from ghp_agents.hotpath.locate import Location, branch

WAITS = "Waits for its person"  # begins the last action of an agent whose client says so
PAUSES = "Waits for the account of "  # the same of one whose account has to wait
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

ACTION_LIMIT = 500  # characters of lastAction
THROTTLE = 5.0
BLOCKED = "blocked"
BEFORE = "beforeBlocked"  # in `local`: the status to which an unblocked agent goes back
FORMER = "former"  # in `local`: the agent's claims before the current one
MOST_FORMER = 8
VOUCHED = ("processRunsFor", "silentFor", "clientEnded")  # reported for one without heartbeats
SESSION_VARIABLES = (  # the kind of agent, and its session variables
    ("claude", "CLAUDE_CODE_SESSION_ID"),
    ("codex", "CODEX_THREAD_ID"),
    ("codex", "CODEX_SESSION_ID"),
    ("gemini", "GEMINI_SESSION_ID"),
    ("copilot", "COPILOT_AGENT_SESSION_ID"),
    ("agent", "GHP_SESSION"),
)
PERSON = "GHP_PERSON"  # "1": a person, even if the environment has an agent's variables
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789._-"
# Names that Windows does not allow for files.
_RESERVED = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        *(port + digit for port in ("com", "lpt") for digit in "123456789"),
    ]
)


def beat(
    folders: "Sequence[str]",
    agent: str,
    fields: "Mapping[str, Any]",
    now: float,
    *,
    session: str | None = None,
    progress: bool = False,
    throttle: float = THROTTLE,
    pid: int | None = None,
    epoch: int | None = None,
    patience: float = presence_file.TIMEOUT_S,
    moment: "tuple[str, float] | None" = None,
    count: "Callable[[dict[str, Any], dict[str, Any]], bool] | None" = None,
) -> str | None:
    """Renew the presence of `agent` in the first of `folders` that can be written.

    Returns "moved" (status, issue or epoch changed), "beat", or "quiet" (nothing new within the
    throttle, so nothing was written). Returns None if the slow path must find the epoch: the agent
    has no presence yet and `epoch` is not given, or its session started again. `moment` is the
    monotonic time: `Clock.interval`. `count` adds to the record and its `local` what the agent has
    used, and returns whether that is news. Raises OSError if nothing can be written.
    """
    number, held = presence_file.hold(folders, agent, patience=patience)
    try:
        presences = [presence_file.presence(folder, agent) for folder in folders]
        before = presence_file.newest_of(presences)
        record: dict[str, Any] = dict(before or {})
        local = _sessions(record, session, pid)
        if before is not None and epoch is not None and _has_begun(before, epoch, session):
            epoch = None  # another process of this session was faster
        if epoch is None and (before is None or local is None):
            return None
        stamp = to_text(now)
        fields = _with_claim(record, fields)
        news = before is None or any(record.get(key) != value for key, value in fields.items())
        news = news or epoch is not None or local != record.get("local")
        if progress and not _recent(record.get("lastProgress"), now, throttle):
            news = True
        if count and before is not None and local is not None:
            news = count(record, local) or news
        if not news and _recent(record.get("timestamp"), now, throttle):
            return "quiet"
        moved = epoch is not None or any(
            key in fields and record.get(key) != fields[key] for key in ("status", "issue")
        )
        if before is None:
            record = _blank(stamp, session)
        former = _former(record, fields)
        _update_record(record, local or {}, fields)
        if epoch is not None:
            # Positions only grow, also if two processes of an agent start at once.
            epoch = max(epoch, record["epoch"] + 1)
            local = _began(record, session)
            record["epoch"], record["seq"], record["startedAt"] = epoch, 0, stamp
        assert local is not None
        local |= former
        if pid is not None:
            _note_process(local, pid)
        boot_clock.note_beat(local, moment, now)
        record["timestamp"], record["seq"] = stamp, record["seq"] + 1
        if progress or moved:
            record["lastProgress"] = stamp
        if session and "session" in local:
            record["session"] = local["session"]
        record["local"] = local
        presence_file.write(folders[number:], presences[number:], agent, fastjson.encode(record))
        return "moved" if moved else "beat"
    finally:
        if held >= 0:
            os.close(held)


def _update_record(
    record: "dict[str, Any]", local: "dict[str, Any]", fields: "Mapping[str, Any]"
) -> None:
    """Update the record; the generation of a claim belongs to its issue, and what was handed over
    to its branch. `local` remembers the status before "blocked"."""
    if fields.get("status") == BLOCKED != record.get("status"):
        local[BEFORE] = record.get("status")
    if "issue" in fields and fields["issue"] != record.get("issue"):
        record.pop("generation", None)
        record.pop("unfinished", None)
    here = record.get("branch")
    if fields.get("issue") or fields.get("branch", here) != here:
        record.pop("handed", None)
    for field in VOUCHED:  # an agent with heartbeats reports its own state
        record.pop(field, None)
    record.update(fields)


def _with_claim(record: "Mapping[str, Any]", fields: "Mapping[str, Any]") -> "Mapping[str, Any]":
    """The fields; an agent that names an issue again still has the claim that it had."""
    issue = fields.get("issue")
    if issue in (None, record.get("issue")) or "generation" in fields:
        return fields
    generation = former_claims(record).get(str(issue))
    return fields if generation is None else {**fields, "generation": generation}


def former_claims(presence: "Mapping[str, Any]") -> "Mapping[str, int]":
    """The generations of the claims that an agent had before its current one, by issue."""
    claims: Mapping[str, int] = (presence.get("local") or {}).get(FORMER) or {}
    return claims


def _former(record: "Mapping[str, Any]", fields: "Mapping[str, Any]") -> "dict[str, Any]":
    """The claims before the current one, for `local`, the newest few: their generations, by issue.

    In the worktree of such a claim, the agent edits nothing after it lost it.
    """
    before = former_claims(record)
    former = dict(before)
    issue, generation = record.get("issue"), record.get("generation")
    if fields.get("issue") not in (None, issue):
        if "generation" in fields:
            former.pop(str(fields["issue"]), None)
        former |= {str(issue): generation} if type(generation) is int else {}
    return {FORMER: dict([*former.items()][-MOST_FORMER:])} if former or before else {}


def _has_begun(record: "Mapping[str, Any]", epoch: int, session: str | None) -> bool:
    here = record.get("local", {}).get("session")
    return session is not None and session == here and record["epoch"] >= epoch


def _blank(stamp: str, session: str | None) -> "dict[str, Any]":
    """A presence before the first heartbeat, with its keys in display order."""
    record: dict[str, Any] = {"issue": None, "status": "idle", "lastAction": ""}
    record |= {"timestamp": stamp, "epoch": 0, "seq": 0, "startedAt": stamp, "lastProgress": stamp}
    return record | {"session": session} if session else record


def _note_process(local: "dict[str, Any]", pid: int) -> None:
    """Note the process whose life is the agent's life, and when it started."""
    space = process_space()
    if (local.get("pid"), local.get("space")) == (pid, space) and "started" in local:
        return
    from ghp_agents.hotpath import process_start

    local["pid"], local["space"] = pid, space
    start = process_start.started(pid)
    if start:
        local["started"] = start
    else:
        local.pop("started", None)


def _sessions(
    record: "Mapping[str, Any]", session: str | None, pid: int | None
) -> "dict[str, Any] | None":
    """The machine's memory of the agent's sessions, after a heartbeat of `session`.

    None means a new session, so the agent starts again. A known session that returns was resumed. A
    process that continues under another id, as after `/clear`, is not a new session.
    """
    local = dict(record.get("local", ()))
    here = local.get("session")
    if session is None or session == here:
        return local
    if here is None:
        return local | {"session": session}
    if session == recorded_process(local):
        return local  # the session's shell, which knows only its process
    left = [*local.get("left", ())]
    is_same = pid is not None and (local.get("pid"), local.get("space")) == (pid, process_space())
    if session not in left and (not is_same or record.get("status") == "stopped"):
        return None
    left = [other for other in left if other != session][-3:]
    return local | {"session": session, "left": [*left, here]}


def recorded_process(local: "Mapping[str, Any]") -> str:
    """The process that a presence records, in the form of `process_start.key`; empty if unknown."""
    return f"{local['pid']}-{local['started']}" if local.get("started") else ""


def _began(record: "Mapping[str, Any]", session: str | None) -> "dict[str, Any]":
    """What to remember when the agent starts again under `session`."""
    local = record.get("local", {})
    left = [*local.get("left", ()), local.get("session")]
    others = [other for other in left if other and other != session][-3:]
    used = {"usage": local["usage"]} if "usage" in local else {}
    return used | ({"session": session, "left": others} if session else {"left": others})


def to_text(seconds: float) -> str:
    """The time format of records; the same as `clock.to_text`, without its import."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _recent(stamp: "Any", now: float, throttle: float) -> bool:
    # Compared as text: parsing a time needs datetime, which costs more than the heartbeat.
    return to_text(now - throttle) < str(stamp or "") <= to_text(now)


def name_file(git_dir: str) -> str:
    """The name in the worktree's file; empty if there is none."""
    try:
        with open(git_dir + "/ghp-agent", encoding="utf-8", errors="replace") as file:
            return file.read(128).strip()
    except OSError:
        return ""


def session(environ: "Mapping[str, str]") -> "tuple[str, str | None]":
    """The kind of agent that runs this process, and its session, if known."""
    for kind, variable in SESSION_VARIABLES:
        value = environ.get(variable)
        if value and kind != "agent":
            return kind, _shown(value[:64])
    named = environ.get("GHP_SESSION")
    if not named and (environ.get("GHP_AGENT") or environ.get(PERSON) == "1"):
        return "shell", None
    from ghp_agents.hotpath import calling_client

    if named:
        return (calling_client.mark(environ) or ("agent", ""))[0], _shown(named[:64])
    return calling_client.session(environ) or ("shell", None)


def via(environ: "Mapping[str, str]") -> str:
    """A short name of the current session: its kind and the beginning of its id, or the named
    agent. Empty for a person at a shell."""
    kind, session_id = session(environ)
    if session_id:
        return f"{kind} {session_id[:8]}"
    name = environ.get("GHP_AGENT")
    return f"agent {name}" if name and is_name(name) else ""


def agent_pid(environ: "Mapping[str, str]") -> int | None:
    """The process whose life is the agent's life, if known."""
    value = environ.get("GHP_AGENT_PID") or environ.get("CLAUDE_PID") or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


def process_space() -> str:
    """The namespace of process ids: containers that share a folder do not share it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return os.uname().nodename + "/" + space


def is_name(text: str) -> bool:
    """Whether `text` is an agent's name; `core.ids.agent_name` raises the error."""
    # Joining a state checks ten thousand names.
    if not 0 < len(text) <= 63 or text[0] in "._-" or text.strip(_NAME_CHARACTERS):
        return False
    if "." not in text:
        return text not in _RESERVED
    return (
        ".." not in text
        and not text.endswith((".lock", "."))  # `.lock` would be the lock of a git ref
        and text.split(".", 1)[0] not in _RESERVED
    )


KNOWN_STATUSES = (
    "idle",
    "planning",
    "implementing",
    "testing",
    "reviewing",
    "waiting",
    BLOCKED,
    "done",
    "stopped",
)


def is_status(text: str) -> bool:
    """Whether `text` is a status; `core.ids.status_name` raises the error."""
    return (
        0 < len(text) <= 32
        and text.isascii()
        and text[0].isalpha()
        and all(char.islower() or char == "-" for char in text)
    )


def clean_action(text: str) -> str:
    """An action as one line of at most ACTION_LIMIT characters."""
    head = text[: ACTION_LIMIT * 4]
    line = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return line if len(line) <= ACTION_LIMIT else line[: ACTION_LIMIT - 1] + "…"


def surroundings(place: Location) -> "dict[str, Any]":
    """The location fields of a heartbeat: the branch, and the name of the worktree."""
    here = branch(place.git_dir)
    fields: dict[str, Any] = {"branch": _shown(here) if here else None}
    if place.toplevel:
        fields["worktree"] = _shown(os.path.basename(place.toplevel))
    return fields


def surroundings_of(
    place: Location, agent: str, presence: "Mapping[str, Any] | None"
) -> "dict[str, Any]":
    """The same for a command that names its agent. In another agent's worktree, an agent that has
    a worktree is not moved there: its changes stay where they are."""
    owner = name_file(place.git_dir)
    if owner and owner != agent and presence and presence.get("worktree"):
        return {}
    return surroundings(place)


def _shown(name: str) -> str:
    """A name from outside in printable characters."""
    return "".join([char if char.isprintable() else "\ufffd" for char in name])


def state_folders(common_dir: str, environ: "Mapping[str, str]") -> "list[str]":
    """The folders for presence and outbox, best first: the clone's, then one outside for sandboxes
    with a read-only `.git`."""
    return [common_dir + "/ghp", spare_folder(common_dir, environ)]


def spare_folder(common_dir: str, environ: "Mapping[str, str]") -> str:
    """The folder for presence and outbox if the clone's own cannot be written."""
    chosen = environ.get("GHP_STATE_DIR")
    base = chosen and os.path.abspath(chosen)
    base = base or environ.get("XDG_STATE_HOME") or environ.get("HOME", "/") + "/.local/state"
    total = 0
    for char in os.path.realpath(common_dir):
        total = (total * 1_000_003 + ord(char)) % (2**64 - 59)
    return f"{base}/ghp/{total:016x}"


def read_settings(common_dir: str, environ: "Mapping[str, str]") -> "dict[str, Any]":
    """The settings, as cached by the last full command; empty means defaults."""
    cached = fastjson.read_object(own_file.home_folder(common_dir, environ) + "/settings.json")
    values = cached.get("values") if cached else None
    return values if isinstance(values, dict) else {}
