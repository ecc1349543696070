"""The stamp of a compiled policy: it proves that none of its sources has changed.

Writers of the state need not update anything for that, so a killed one cannot forget it.
"""

import os
import time

from ghp_agents.hotpath import own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.locate import Location

    Stamp = dict[str, Any]

RULED = (".ghp/leases/", ".ghp/issues/", ".ghp/stops/")  # this clone's records that affect edits
_SHORT = 200  # bytes; shorter files, such as refs, are compared by their text
LONGEST_TEXT = 1_000_000  # bytes of a file that is compared as a whole
QUEUE = "queue"  # the folder of records that are about to be committed
MIRROR = "/cache/hub/mirror"  # mirrored issues; changes only when they do
CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")  # the first one counts
# The folders of refs in the private repository that matter: other clones' records, and locks. Our
# own ref is compared separately.
_REF_FOLDERS = tuple(
    f"refs/ghp/{name}"
    for name in ("seen", "lease/issue", "lease/path", "seen-lease/issue", "seen-lease/path")
)
_MARKS = 1_000_000_000  # seconds; modification times before 2001 are marks of ours
_TODAY = 1_700_000_000  # an earlier time means that the clock was never set


class Sources:
    """The source files of a compiled policy."""

    __slots__ = ("config", "folders", "home", "state", "texts")

    def __init__(
        self, place: "Location", folders: "Sequence[str]", environ: "Mapping[str, str]"
    ) -> None:
        common = place.common_dir
        is_inside = common.endswith("/.git")
        root = common[: -len("/.git")] if is_inside else place.toplevel or place.git_dir
        home = environ.get("HOME", "/")
        self.state = folders[0] + "/state.git"
        self.folders = folders
        self.home = own_file.home_folder(common, environ)
        self.config = common + "/config"
        self.texts = [
            root + "/.ghp/config.json",
            home + "/.config/ghp-cli/config.json",
            *(f"{root}/{name}" for name in CODEOWNERS),
        ]


def take_stamp(sources: Sources) -> "tuple[str, Stamp] | None":
    """This clone's commit, and the stamp for a policy that is compiled from here on; None if there
    can be none.

    A modification time alone proves nothing: two changes within a clock tick share it. So each
    folder gets a special time before it is read, which any change replaces.
    """
    if time.time() < _TODAY:
        return None  # if the machine's clock was never set, times may look like marks
    folders = [*_folders(sources)]
    for path in [*folders, sources.state + "/packed-refs"]:
        if not _mark(path):
            return None
    own = _own(sources.state)
    stamp = _stamp(sources, folders, ())
    return None if own is None or stamp is None else (own, stamp)


def is_fresh(sources: Sources, own: str, stamp: "Stamp") -> bool:
    """Whether nothing has changed since the stamp was taken."""
    folders = [path for path, _ in stamp["folders"]]
    trunk = [path for path, _ in stamp["trunk"]]
    return _stands(sources.state, own) and stamp == _stamp(sources, folders, trunk)


def _own(state: str) -> str | None:
    """This clone's commit, and how git stores it; None if unknown."""
    clone = _line(state + "/ghp-clone")
    if clone is None or not clone.isascii():
        return None  # this clone has no records yet
    ref = f"refs/ghp/clone/{clone}"
    oid = _line(f"{state}/{ref}")
    if oid is not None:  # another program may have written anything there
        return f"loose {ref} {oid}" if oid.isascii() and oid.isalnum() else None
    packed = _packed(state + "/packed-refs", ref)
    return f"packed {ref} {packed}" if packed is not None and packed.isascii() else None


def _stands(state: str, own: str) -> bool:
    kind, _, rest = own.partition(" ")
    ref, _, oid = rest.partition(" ")
    if f"refs/ghp/clone/{_line(state + '/ghp-clone')}" != ref:
        return False
    if kind == "packed":  # then `packed-refs` is compared
        return not os.path.lexists(f"{state}/{ref}")
    return _line(f"{state}/{ref}") == oid


def _packed(path: str, ref: str) -> str | None:
    try:
        with open(path, "rb") as file:
            for line in file:
                oid, _, name = line.rstrip(b"\n").partition(b" ")
                if name == ref.encode():
                    return oid.decode("ascii", "replace")
    except FileNotFoundError:
        return ""
    except OSError:
        return None
    return ""


def _line(path: str) -> str | None:
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(file, 200).decode("ascii", "replace").strip()
    except OSError:
        return None
    finally:
        os.close(file)


def _stamp(sources: Sources, folders: "Sequence[str]", trunk: "Sequence[str]") -> "Stamp | None":
    """The values to compare; None if unknown. The compiler finds the default branch and notes it in
    the stamp."""
    if os.path.lexists(sources.state + "/reftable"):
        return None  # refs are not files
    try:
        return {
            "folders": [[path, _time(path)] for path in folders],
            "packed": _time(sources.state + "/packed-refs"),
            "queue": _queued(f"{sources.folders[0]}/{QUEUE}"),
            "case": case(sources.config),
            "texts": [[path, text(path)] for path in sources.texts],
            "trunk": marks(trunk),
        }
    except OSError:
        return None


def _folders(sources: Sources) -> "Iterator[str]":
    for name in _REF_FOLDERS:
        top = f"{sources.state}/{name}"
        yield top
        for path, inner, _ in os.walk(top):
            yield from (f"{path}/{folder}" for folder in inner)
    for folder in sources.folders:
        yield folder + "/outbox"
    yield sources.folders[0] + MIRROR


def _queued(folder: str) -> list[str]:
    """Records on their way into a commit. They are compared by name, not by the folder's time: a
    commit that changes no rule leaves the policy valid."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.endswith(".tmp"))
    except FileNotFoundError:
        return []


def _mark(path: str) -> bool:
    """Give a folder or file a modification time that no clock ever shows. Returns whether it has
    one or does not exist, which can be compared as well."""
    try:
        if os.stat(path).st_mtime_ns < _MARKS * 10**9:
            return True  # already marked: nothing changed since
        mark = int.from_bytes(os.urandom(8), "big") % (_MARKS * 10**9)
        os.utime(path, ns=(mark, mark))
        return os.stat(path).st_mtime_ns < _MARKS * 10**9
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _time(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None


def marks(paths: "Sequence[str]") -> "list[list[Any]]":
    """A value for each file or folder that changes with it: the text of a short file, else time,
    size and inode; None if it does not exist."""
    return [[path, _seen(path)] for path in paths]


def _seen(path: str) -> "str | list[int] | None":
    try:
        status = os.stat(path)
    except OSError:
        return None
    if status.st_mode & 0o170_000 == 0o100_000 and status.st_size <= _SHORT:
        return _line(path)
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def case(config: str) -> list[str]:
    """The lines of git's configuration about ignoring case. Raises OSError."""
    config_text = (text(config) or "").lower()
    if "ignorecase" not in config_text:
        return []
    return [line.strip() for line in config_text.splitlines() if "ignorecase" in line]


def ignores_case(lines: "Sequence[str]") -> bool:
    """Whether the file system ignores case, as git detected and stored."""
    settings = [line.partition("=")[2].strip() for line in lines if line.startswith("ignorecase")]
    return bool(settings) and settings[-1] in ("true", "yes", "on", "1", "")


def text(path: str) -> str | None:
    """A file's content, byte by byte; None if there is no file. Raises OSError."""
    try:
        file = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        data = os.read(file, LONGEST_TEXT + 1)
    except IsADirectoryError:
        return None
    finally:
        os.close(file)
    if len(data) > LONGEST_TEXT:
        raise OSError(f"{path} is too long to be compared")
    return data.decode("latin-1")
