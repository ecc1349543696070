"""The fast road of a beat: it must cost about as much as starting Python.

No lock that anything depends on, no git, and of the standard library only what is already
loaded or tiny. Each agent is the only writer of its own presence file; a beat builds the record,
writes a temporary file and replaces. Whatever this road does not know is left to the slow one.
"""

import os
import sys
import time

from ghp_agents.locate import Location, branch, locate

try:
    import _json  # CPython's; `import json` costs as much as all the rest of a beat
except ImportError:
    _json = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ACTION_LIMIT = 500  # characters of lastAction
SPAWN_PAUSE = 2.0  # seconds between two background processes of a clone
THROTTLE = 5.0
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
    ["con", "prn", "aux", "nul", *(port + digit for port in ("com", "lpt") for digit in "123456789")]
)
_OPTIONS = {"--status": "status", "--issue": "issue", "--action": "lastAction", "--as": "agent"}


# ------------------------------------------------------------------ the command, on the fast road


def run(argv: "Sequence[str]", environ: "Mapping[str, str]") -> bool:
    """`agent-heartbeat` with plain options, from `argv` after the command's name.

    Answers False when the slow road has to take over: help, errors, a first beat, odd options.
    """
    said = _parse(argv)
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
        folders, agent, said, now, session=session(environ)[1], progress=bool(progress),
        throttle=settings.get("throttle", THROTTLE), pid=agent_pid(environ),
    )
    if beaten is None:
        return False
    wake_background(folders, environ, now, settings, urgent=beaten == "moved")
    return True


def _parse(argv: "Sequence[str]") -> "dict[str, Any] | None":
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
) -> str | None:
    """Renew the presence of `agent` in the first of `folders` that can be written.

    Answers "moved" (status, issue or epoch is another), "beat", "quiet" (nothing new within the
    throttle, nothing written), or None: the agent has no presence yet and `epoch` is not given,
    or its session started again, so the slow road must find the epoch. Raises OSError when
    nothing can be written.
    """
    path, held = "", -1
    for folder in folders:
        path = folder + "/agents/" + agent + ".json"
        try:
            held = _hold(folder, agent)
            break
        except OSError:
            continue
    try:
        before = newest(folders, agent)
        if before is None and epoch is None:
            return None
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        record: dict[str, Any] = dict(before or _blank(stamp, session))
        restarted = epoch is not None and before is not None and epoch > before.get("epoch", 0)
        local = _sessions(record, session, now)
        if local is None and epoch is None:
            return None
        quiet = before is not None and not restarted and all(
            record.get(key) == value for key, value in said.items()
        )
        if quiet and _recent(record, now, throttle) and local == record.get("local"):
            return "quiet"
        moved = before is None or restarted or any(
            key in said and record.get(key) != said[key] for key in ("status", "issue")
        )
        record.update(said)
        if epoch is not None:
            local = _began(record, session)
            record["epoch"], record["seq"], record["startedAt"] = epoch, 0, stamp
        assert local is not None
        if pid is not None:
            local["pid"], local["space"] = pid, process_space()
        record["timestamp"], record["seq"] = stamp, record.get("seq", 0) + 1
        if progress or moved:
            record["lastProgress"] = stamp
        if session:
            record["session"] = session
        rival = local.get("rival")
        if rival and rival != (record.get("local") or {}).get("rival"):
            _mark_rival(path)
        record["local"] = local
        _replace(path, encode(record))
        return "moved" if moved else "beat"
    finally:
        if held >= 0:
            os.close(held)


def _blank(stamp: str, session: str | None) -> "dict[str, Any]":
    """A presence before its first beat; its order is the one that people read it in."""
    record: dict[str, Any] = {"issue": None, "status": "idle", "lastAction": ""}
    record |= {"timestamp": stamp, "epoch": 0, "seq": 0, "startedAt": stamp, "lastProgress": stamp}
    return record | {"session": session} if session else record


def _sessions(record: "Mapping[str, Any]", session: str | None, now: float) -> "dict[str, Any] | None":
    """What the machine remembers of the agent's sessions after a beat by `session`.

    None means: a session that was not here before, so the agent starts again. One that was, and
    comes back, may have been resumed; two that take turns both live, and are kept as rivals.
    """
    local = dict(record.get("local") or {})
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
    """Leave a mark beside the presence at `path`, so that who looks for rivals need not read all."""
    folder, _, name = path.rpartition("/agents/")
    marks = folder + "/cache/rivals"
    try:
        os.makedirs(marks, exist_ok=True)
        os.close(os.open(marks + "/" + name.removesuffix(".json"), os.O_WRONLY | os.O_CREAT, 0o600))
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
    local = record.get("local") or {}
    left = [*local.get("left", ()), local.get("session")]
    others = [other for other in left if other and other != session][-3:]
    return {"session": session, "left": others} if session else {"left": others}


def _recent(record: "Mapping[str, Any]", now: float, throttle: float) -> bool:
    # Compared as text on purpose: parsing a time needs datetime, which costs more than the beat.
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - throttle))
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    return since < str(record.get("timestamp", "")) <= until


def _hold(folder: str, agent: str) -> int:
    """Serialise the parallel processes of one agent, where the system can; closing frees it."""
    os.makedirs(folder + "/agents", exist_ok=True)
    held = os.open(folder + "/agents/." + agent + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
    except (ImportError, OSError):
        pass
    return held


def _replace(path: str, content: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            written = 0
            while written < len(content):
                written += os.write(file, content[written:])
        finally:
            os.close(file)
        os.replace(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def newest(folders: "Sequence[str]", agent: str) -> "dict[str, Any] | None":
    """The presence of `agent` as its machine has it; None if there is none that can be read."""
    best: dict[str, Any] | None = None
    for folder in folders:
        found = read(folder + "/agents/" + agent + ".json")
        if found is not None and (best is None or _position(found) > _position(best)):
            best = found
    return best


def _position(record: "Mapping[str, Any]") -> "tuple[int, int]":
    return record.get("epoch", 0), record.get("seq", 0)


# ------------------------------------------------------------------------ names and places


def whoami(place: Location, environ: "Mapping[str, str]") -> str | None:
    """The agent's name: GHP_AGENT, then the worktree's own file, then the session."""
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
    return f"{kind}-{short(found)}" if found else None


def session(environ: "Mapping[str, str]") -> "tuple[str, str | None]":
    """The kind of agent that runs this process, and its session, as far as they are told."""
    for kind, variable in SESSION_VARIABLES:
        value = environ.get(variable)
        if value:
            return kind, value[:64]
    return "shell", None


def short(found: str) -> str:
    """Four hex digits that stand for a session in a name."""
    digits = [char for char in found.lower() if char in "0123456789abcdef"]
    if len(digits) >= 8:
        return "".join(digits[-4:])
    total = 0
    for char in found:
        total = (total * 131 + ord(char)) % 65_521
    return f"{total:04x}"


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
    return (
        0 < len(text) <= 63
        and text[0] not in "._-"
        and not text.strip(_NAME_CHARACTERS)  # ten thousand names are checked to join a state
        and ".." not in text
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
    said: dict[str, Any] = {"branch": branch(place.git_dir)}
    if place.toplevel:
        said["worktree"] = os.path.basename(place.toplevel)
    return said


def state_folders(common_dir: str, environ: "Mapping[str, str]") -> "list[str]":
    """The folders for presence and outbox, best first: the clone's, then one outside for
    sandboxes in which `.git` is read-only."""
    return [common_dir + "/ghp", spare_folder(common_dir, environ)]


def spare_folder(common_dir: str, environ: "Mapping[str, str]") -> str:
    """Where presence and outbox go when the clone's own folder cannot be written."""
    chosen = environ.get("GHP_STATE_DIR")
    base = chosen or environ.get("XDG_STATE_HOME") or environ.get("HOME", "/") + "/.local/state"
    total = 0
    for char in os.path.realpath(common_dir):
        total = (total * 1_000_003 + ord(char)) % (2**64 - 59)
    return f"{base}/ghp/{total:016x}"


# ------------------------------------------------------------------------------ background


def wake_background(
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    now: float,
    settings: "Mapping[str, Any]",
    *,
    urgent: bool,
) -> bool:
    """Start one detached fold-and-sync when there is reason to, and none was started just now."""
    if environ.get("GHP_BACKGROUND") == "0" or settings.get("background") is False:
        return False
    cache = folders[0] + "/cache"
    # The time stamp of `due` is when the background is next needed; a fold or a sync sets it.
    if not urgent and _mtime(cache + "/due") > now:
        return False
    if now - _mtime(cache + "/woken") < SPAWN_PAUSE:
        return False
    try:
        os.makedirs(cache, exist_ok=True)
        os.close(os.open(cache + "/woken", os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(cache + "/woken", (now, now))
        spawn([sys.executable, "-m", "ghp_agents", "agent-sync", "--background"], environ)
    except OSError:
        return False
    return True


def spawn(command: "Sequence[str]", environ: "Mapping[str, str]") -> None:
    """Start a process that outlives us and holds none of our pipes."""
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    os.posix_spawn(command[0], list(command), dict(environ), file_actions=nowhere, setsid=True)


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def read_settings(folders: "Sequence[str]") -> "dict[str, Any]":
    """The settings as the last other command found and checked them; empty means defaults."""
    found = read(folders[0] + "/cache/settings.json")
    values = found.get("values") if found else None
    return values if isinstance(values, dict) else {}


# ----------------------------------------------------------------------------- JSON, cheaply


class _Context:
    """What the C scanner of `json` asks its decoder for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def read(path: str) -> "dict[str, Any] | None":
    """The JSON object in a file; None when the file is not there or is something else."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        size = os.fstat(file).st_size
        data = os.read(file, size + 1) if size < 1_000_000 else b""
    finally:
        os.close(file)
    try:
        value = decode(data.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def decode(text: str) -> "Any":
    """Read JSON. Raises ValueError."""
    if _json is None:
        import json

        return json.loads(text)
    text = text.strip()
    try:
        value, end = _json.make_scanner(_Context)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, RecursionError):
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("not JSON: something follows")
    return value


def encode(value: "Any") -> bytes:
    """Write compact JSON with a final newline."""
    if _json is None:
        import json

        return json.dumps(value).encode() + b"\n"
    quote = _json.encode_basestring_ascii
    parts = _json.make_encoder(None, str, quote, None, ": ", ", ", False, False, True)(value, 0)
    return "".join(parts).encode() + b"\n"
