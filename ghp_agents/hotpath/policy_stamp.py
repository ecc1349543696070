"""The stamp of a rulebook: by it a reader proves that nothing the book was made from has changed.

No writer of state has to remember anything for that, and so a killed one can forget nothing.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.locate import Location

    Stamp = dict[str, Any]

RULED = (".ghp/leases/", ".ghp/issues/")  # the records of this clone that have a say
_SHORT = 200  # bytes of a file that is compared by its text, as that of a ref is
LONGEST_TEXT = 1_000_000  # bytes of a file that is compared as a whole
MIRROR = "/cache/hub/mirror"  # what is kept of issues elsewhere; it changes only when they do
CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")  # the first one counts
# The folders of refs in the private repository that have a say: what other clones said, and
# rights. Our own ref is compared itself.
_REF_FOLDERS = tuple(
    f"refs/ghp/{name}"
    for name in ("seen", "lease/issue", "lease/path", "seen-lease/issue", "seen-lease/path")
)
_MARKS = 1_000_000_000  # seconds; times of change before 2001 are marks of ours
_TODAY = 1_700_000_000  # later than this is now, by any clock that goes


class Sources:
    """The files that a rulebook is made from, by their paths."""

    __slots__ = ("config", "folders", "state", "texts")

    def __init__(
        self, place: "Location", folders: "Sequence[str]", environ: "Mapping[str, str]"
    ) -> None:
        common = place.common_dir
        is_inside = common.endswith("/.git")
        root = common[: -len("/.git")] if is_inside else place.toplevel or place.git_dir
        home = environ.get("HOME", "/")
        self.state = folders[0] + "/state.git"
        self.folders = folders
        self.config = common + "/config"
        self.texts = [
            root + "/.ghp/config.json",
            home + "/.config/ghp-cli/config.json",
            *(f"{root}/{name}" for name in CODEOWNERS),
        ]


def take(sources: Sources) -> "tuple[str, Stamp] | None":
    """Where this clone's history stands, and the stamp for a book that is made of what is read
    from now on; None if there can be none.

    A time of change alone proves nothing, for two changes within a tick of the system's clock
    have one. So each folder gets a time of ours before it is read: any change replaces it.
    """
    if time.time() < _TODAY:
        return None  # on a machine whose clock was never set, times may look like marks
    folders = [*_folders(sources)]
    for path in [*folders, sources.state + "/packed-refs"]:
        if not _mark(path):
            return None
    own = _own(sources.state)
    stamp = _stamp(sources, folders, ())
    return None if own is None or stamp is None else (own, stamp)


def is_fresh(sources: Sources, own: str, stamp: "Stamp") -> bool:
    """Whether all is as it was when the stamp was taken."""
    folders = [path for path, _ in stamp["folders"]]
    trunk = [path for path, _ in stamp["trunk"]]
    return _stands(sources.state, own) and stamp == _stamp(sources, folders, trunk)


# ------------------------------------------------------------------------------- our own ref


def _own(state: str) -> str | None:
    """Where this clone's own history stands, and how git keeps that; None if it cannot be told."""
    clone = _line(state + "/ghp-clone")
    if clone is None:
        return None  # nothing was said here yet
    ref = f"refs/ghp/clone/{clone}"
    oid = _line(f"{state}/{ref}")
    if oid is not None:
        return f"loose {ref} {oid}"
    packed = _packed(state + "/packed-refs", ref)
    return None if packed is None else f"packed {ref} {packed}"


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


# ------------------------------------------------------------------------------ all the rest


def _stamp(sources: Sources, folders: "Sequence[str]", trunk: "Sequence[str]") -> "Stamp | None":
    """What is compared; None if it cannot be told. Where the trunk is, the maker of a book finds
    out, and notes it in the stamp."""
    if os.path.lexists(sources.state + "/reftable"):
        return None  # refs that are no files
    try:
        return {
            "folders": [[path, _time(path)] for path in folders],
            "packed": _time(sources.state + "/packed-refs"),
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
            yield from (f"{path}/{each}" for each in inner)
    for folder in sources.folders:
        yield folder + "/outbox"
    yield sources.folders[0] + MIRROR


def _mark(path: str) -> bool:
    """Give a folder or file a time of change that no clock will ever show; whether it has one, or
    is not there, which can be compared as well."""
    try:
        if os.stat(path).st_mtime_ns < _MARKS * 10**9:
            return True  # whoever made that mark: nothing changed since
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
    """What changes when one of these files or folders does: the text of a short file, else its
    time, size and number; None where there is nothing."""
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
    """The lines of git's configuration that may say that upper and lower case are one. Raises
    OSError."""
    said = (text(config) or "").lower()
    if "ignorecase" not in said:
        return []
    return [line.strip() for line in said.splitlines() if "ignorecase" in line]


def ignores_case(lines: "Sequence[str]") -> bool:
    """Whether upper and lower case are one on the file system, as git found out and noted."""
    said = [line.partition("=")[2].strip() for line in lines if line.startswith("ignorecase")]
    return bool(said) and said[-1] in ("true", "yes", "on", "1", "")


def text(path: str) -> str | None:
    """What is in a file, byte by byte; None where there is none. Raises OSError."""
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
