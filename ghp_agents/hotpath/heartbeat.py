"""The fast road of a beat: it must cost about as much as starting Python.

No lock that anything depends on, no git, and of the standard library only what is already
loaded or tiny. Each agent is the only writer of its own presence file; a beat builds the record,
writes a temporary file and replaces. Whatever this road does not know is left to the slow one.
"""

import os
import time

from ghp_agents.hotpath import background, boot_clock, fastjson, own_file, presence_file
from ghp_agents.hotpath.locate import Location, branch, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ACTION_LIMIT = 500  # characters of lastAction
THROTTLE = 5.0
VOUCHED = ("processRunsFor", "silentFor")  # fields that say how an agent is that does not beat
RIVAL_WINDOW = 600.0  # seconds within which two sessions must take turns to be rivals
SESSION_VARIABLES = (  # the kind of agent, and the variables that name its session
    ("claude", "CLAUDE_CODE_SESSION_ID"),
    ("codex", "CODEX_THREAD_ID"),
    ("codex", "CODEX_SESSION_ID"),
    ("gemini", "GEMINI_SESSION_ID"),
    ("agent", "GHP_SESSION"),
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789._-"
# Names that Windows cannot make files of.
_RESERVED = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        *(port + digit for port in ("com", "lpt") for digit in "123456789"),
    ]
)
_OPTIONS = {"--status": "status", "--issue": "issue", "--action": "lastAction", "--as": "agent"}


# ------------------------------------------------------------------ the command, on the fast road


def run(argv: "Sequence[str]", environ: "Mapping[str, str]") -> bool:
    """`agent-heartbeat` with plain options, from `argv` after the command's name.

    Answers False when the slow road has to take over: help, errors, a first beat, odd options.
    """
    said = parse(argv)
    if said is None:
        return False
    place = locate(os.getcwd(), environ)
    if place is None:
        return False
    agent = said.pop("agent", None) or whoami(place, environ)
    if not agent or not is_name(agent):
        return False
    folders = state_folders(place.common_dir, environ)
    progress = said.pop("progress", False)
    settings = read_settings(folders)
    now = time.time()
    said |= surroundings(place)
    beaten = beat(
        folders,
        agent,
        said,
        now,
        session=session(environ)[1],
        progress=bool(progress),
        throttle=settings.get("throttle", THROTTLE),
        pid=agent_pid(environ),
        moment=boot_clock.read(),
    )
    if beaten is None:
        return False
    background.start_sync(folders, environ, now, settings, urgent=beaten == "moved")
    return True


def parse(argv: "Sequence[str]") -> "dict[str, Any] | None":
    """What plain options say; None where the slow road has to look, which knows all of them."""
    said: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        if word == "--progress":
            said["progress"] = True
            continue
        field = _OPTIONS.get(word)
        value = next(words, None) if field else None
        if field is None or value is None or value.startswith("-"):
            return None
        said[field] = value
    issue = said.get("issue")
    if issue is not None:
        number = issue.removeprefix("#")
        if not (number.isascii() and number.isdigit() and len(number) < 16 and int(number) > 0):
            return None
        said["issue"] = int(number)
    status = said.get("status")
    if status is not None and not is_status(status):
        return None
    if "lastAction" in said:
        said["lastAction"] = clean_action(said["lastAction"])
    return said


# ------------------------------------------------------------------------------ one beat


def beat(
    folders: "Sequence[str]",
    agent: str,
    said: "Mapping[str, Any]",
    now: float,
    *,
    session: str | None = None,
    progress: bool = False,
    throttle: float = THROTTLE,
    pid: int | None = None,
    epoch: int | None = None,
    patience: float = presence_file.PATIENCE,
    moment: "tuple[str, float] | None" = None,
) -> str | None:
    """Renew the presence of `agent` in the first of `folders` that can be written.

    Answers "moved" (status, issue or epoch is another), "beat", "quiet" (nothing new within the
    throttle, nothing written), or None: the agent has no presence yet and `epoch` is not given,
    or its session started again, so the slow road must find the epoch. `moment` is now by the
    clock that nobody sets: `Clock.interval`. Raises OSError when nothing can be written.
    """
    number, held = presence_file.hold(folders, agent, patience=patience)
    try:
        known = [presence_file.presence(folder, agent) for folder in folders]
        before = presence_file.newest_of(known)
        record: dict[str, Any] = dict(before or {})
        local = _sessions(record, session, now)
        if before is not None and epoch is not None and _has_begun(before, epoch, session):
            epoch = None  # another process of this session was first
        if epoch is None and (before is None or local is None):
            return None
        stamp = to_text(now)
        news = before is None or any(record.get(key) != value for key, value in said.items())
        news = news or epoch is not None or local != record.get("local")
        if progress and not _recent(record.get("lastProgress"), now, throttle):
            news = True
        if not news and _recent(record.get("timestamp"), now, throttle):
            return "quiet"
        moved = epoch is not None or any(
            key in said and record.get(key) != said[key] for key in ("status", "issue")
        )
        if before is None:
            record = _blank(stamp, session)
        _take_in(record, said)
        if epoch is not None:
            # Positions only grow, also where two processes of an agent begin at once.
            epoch = max(epoch, record["epoch"] + 1)
            local = _began(record, session)
            record["epoch"], record["seq"], record["startedAt"] = epoch, 0, stamp
        assert local is not None
        if pid is not None:
            local["pid"], local["space"] = pid, process_space()
        boot_clock.note_beat(local, moment, now)
        record["timestamp"], record["seq"] = stamp, record["seq"] + 1
        if progress or moved:
            record["lastProgress"] = stamp
        if session:
            record["session"] = session
        rival = local.get("rival")
        record["local"] = local
        presence_file.write(folders[number:], known[number:], agent, fastjson.encode(record))
        if rival and rival != (before or {}).get("local", {}).get("rival"):
            _mark_rival(folders[number] + "/agents/" + agent + ".json")
        return "moved" if moved else "beat"
    finally:
        if held >= 0:
            os.close(held)


def _take_in(record: "dict[str, Any]", said: "Mapping[str, Any]") -> None:
    """Put what is said into the record; the generation of a claim goes with its issue."""
    if "issue" in said and said["issue"] != record.get("issue"):
        record.pop("generation", None)
    for field in VOUCHED:  # nobody needs to vouch for who beats
        record.pop(field, None)
    record.update(said)


def _has_begun(record: "Mapping[str, Any]", epoch: int, session: str | None) -> bool:
    here = record.get("local", {}).get("session")
    return session is not None and session == here and record["epoch"] >= epoch


def _blank(stamp: str, session: str | None) -> "dict[str, Any]":
    """A presence before its first beat; its order is the one that people read it in."""
    record: dict[str, Any] = {"issue": None, "status": "idle", "lastAction": ""}
    record |= {"timestamp": stamp, "epoch": 0, "seq": 0, "startedAt": stamp, "lastProgress": stamp}
    return record | {"session": session} if session else record


def _sessions(
    record: "Mapping[str, Any]", session: str | None, now: float
) -> "dict[str, Any] | None":
    """What the machine remembers of the agent's sessions after a beat by `session`.

    None means: a session that was not here before, so the agent starts again. One that was, and
    comes back, may have been resumed; two that take turns both live, and are kept as rivals.
    """
    local = dict(record.get("local", ()))
    here = local.get("session")
    if session is None or session == here:
        return local
    if here is None:
        return local | {"session": session}
    left = [*local.get("left", ())]
    if session not in left:
        return None
    if now - local.get("returned", 0) < RIVAL_WINDOW:
        local["rival"] = {"sessions": sorted({here, session}), "seen": int(now)}
    left = [other for other in left if other != session][-3:]
    return local | {"session": session, "left": [*left, here], "returned": int(now)}


def _mark_rival(path: str) -> None:
    """Leave a mark for the presence at `path`: who looks for rivals need not read all files."""
    folder, _, name = path.rpartition("/agents/")
    marks = folder + "/cache/rivals"
    try:
        os.makedirs(marks, exist_ok=True)
        own_file.touch(marks + "/" + name.removesuffix(".json"))
    except OSError:
        pass


def rivals(folders: "Sequence[str]") -> "set[str]":
    """The agents of this machine that had rivals at some time."""
    found: set[str] = set()
    for folder in folders:
        try:
            found.update(os.listdir(folder + "/cache/rivals"))
        except OSError:
            continue
    return found


def _began(record: "Mapping[str, Any]", session: str | None) -> "dict[str, Any]":
    """What to remember when the agent starts again under `session`."""
    local = record.get("local", {})
    left = [*local.get("left", ()), local.get("session")]
    others = [other for other in left if other and other != session][-3:]
    return {"session": session, "left": others} if session else {"left": others}


def to_text(seconds: float) -> str:
    """A time as records have it; `clock.to_text` does the same, but costs an import."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _recent(stamp: "Any", now: float, throttle: float) -> bool:
    # Compared as text on purpose: parsing a time needs datetime, which costs more than the beat.
    return to_text(now - throttle) < str(stamp or "") <= to_text(now)


# ------------------------------------------------------------------------ names and places


def whoami(
    place: Location, environ: "Mapping[str, str]", folders: "Sequence[str] | None" = None
) -> str | None:
    """The agent's name: GHP_AGENT, then the worktree's own file, then the session.

    `folders` are where presence is, if that is not beside `place`.
    """
    name = environ.get("GHP_AGENT")
    if name:
        return name
    try:
        with open(place.git_dir + "/ghp-agent", encoding="utf-8", errors="replace") as file:
            name = file.read(128).strip()
    except OSError:
        name = ""
    if name:
        return name
    kind, found = session(environ)
    if not found:
        return None
    from ghp_agents.hotpath import session_name

    return session_name.name(folders or state_folders(place.common_dir, environ), kind, found)


def session(environ: "Mapping[str, str]") -> "tuple[str, str | None]":
    """The kind of agent that runs this process, and its session, as far as they are told."""
    for kind, variable in SESSION_VARIABLES:
        value = environ.get(variable)
        if value:
            return kind, _shown(value[:64])
    return "shell", None


def via(environ: "Mapping[str, str]") -> str:
    """By which session something is said, in short: its kind and the beginning of its id, or the
    agent that is named; empty for a person at a shell."""
    kind, found = session(environ)
    if found:
        return f"{kind} {found[:8]}"
    name = environ.get("GHP_AGENT")
    return f"agent {name}" if name and is_name(name) else ""


def agent_pid(environ: "Mapping[str, str]") -> int | None:
    """The process whose life is the agent's life, where it is told."""
    value = environ.get("GHP_AGENT_PID") or environ.get("CLAUDE_PID") or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


def process_space() -> str:
    """Where a process number means something: containers that share a folder do not share it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return os.uname().nodename + "/" + space


def is_name(text: str) -> bool:
    """Whether `text` is an agent's name; `model.names.agent_name` raises the error if not."""
    # Ten thousand names are checked to join a state.
    if not 0 < len(text) <= 63 or text[0] in "._-" or text.strip(_NAME_CHARACTERS):
        return False
    if "." not in text:
        return text not in _RESERVED
    return (
        ".." not in text
        and not text.endswith((".lock", "."))  # the first would be the lock of a git ref
        and text.split(".", 1)[0] not in _RESERVED
    )


def is_status(text: str) -> bool:
    """Whether `text` is a status; `model.names.status_name` raises the error if not."""
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
    """What a beat says of its place: the branch and the name of the worktree."""
    here = branch(place.git_dir)
    said: dict[str, Any] = {"branch": _shown(here) if here else None}
    if place.toplevel:
        said["worktree"] = _shown(os.path.basename(place.toplevel))
    return said


def _shown(name: str) -> str:
    """A name from outside that can be printed; git and the system also have others."""
    return "".join([char if char.isprintable() else "\ufffd" for char in name])


def state_folders(common_dir: str, environ: "Mapping[str, str]") -> "list[str]":
    """The folders for presence and outbox, best first: the clone's, then one outside for
    sandboxes in which `.git` is read-only."""
    return [common_dir + "/ghp", spare_folder(common_dir, environ)]


def spare_folder(common_dir: str, environ: "Mapping[str, str]") -> str:
    """Where presence and outbox go when the clone's own folder cannot be written."""
    chosen = environ.get("GHP_STATE_DIR")
    base = chosen and os.path.abspath(chosen)
    base = base or environ.get("XDG_STATE_HOME") or environ.get("HOME", "/") + "/.local/state"
    total = 0
    for char in os.path.realpath(common_dir):
        total = (total * 1_000_003 + ord(char)) % (2**64 - 59)
    return f"{base}/ghp/{total:016x}"


def read_settings(folders: "Sequence[str]") -> "dict[str, Any]":
    """The settings as the last other command found and checked them; empty means defaults."""
    found = fastjson.read_object(folders[0] + "/cache/settings.json")
    values = found.get("values") if found else None
    return values if isinstance(values, dict) else {}
