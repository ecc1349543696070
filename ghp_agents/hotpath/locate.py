"""Finds the repository around a folder by walking up, without starting git.

A heartbeat follows every tool call, and `git rev-parse` alone would cost a fifth of it. Imports
only `os`. Handles linked worktrees, submodules (relative `.git` files), and git folders elsewhere.

The configuration in a git folder can start programs. So `locate`, which hooks and heartbeats use,
returns only repositories that belong to the user and have git's usual layout. For all others
commands ask git itself (`git/discovery.py`): docs/design/018.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

POINTER = "gitdir: "  # the prefix of the line in a `.git` file
CONFIG_LIMIT = 1_000_000  # bytes of a git folder's configuration
# Our hooks of git, and what decides which hooks git ran when they were right.
GUARDED = ("pre-commit", "prepare-commit-msg", "pre-push", "reference-transaction")
GUARD_STAMP = "ghp/hooks/stamp"
NUMBERS_END = 2**53  # numbers in records are smaller: JSON readers lose precision beyond


class Location:
    """The paths of a repository's parts, all absolute.

    A plain class: `typing.NamedTuple` alone would cost half as much as starting Python.
    """

    __slots__ = ("common_dir", "git_dir", "toplevel")

    def __init__(self, toplevel: str | None, git_dir: str, common_dir: str) -> None:
        self.toplevel = toplevel  # the worktree's folder; None inside a bare repository
        self.git_dir = git_dir  # this worktree's own git folder
        self.common_dir = common_dir  # shared by all worktrees of the clone

    def __repr__(self) -> str:
        return f"Location({self.toplevel!r}, {self.git_dir!r}, {self.common_dir!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def locate(start: str, environ: "Mapping[str, str]") -> Location | None:
    """The repository that contains `start`, if it is safe without asking git; else None.

    `GIT_DIR` counts only if walking up finds nothing: inside a hook it may name another worktree's
    repository.
    """
    place = walk_up(start) or named(environ)
    return place if place and is_safe(place, environ) else None


def is_safe(place: Location, environ: "Mapping[str, str]") -> bool:
    """Whether hooks may use a repository without asking git."""
    return is_owned(place, environ) and not link_out(place.common_dir)


def walk_up(start: str) -> Location | None:
    """The repository around `start` that a `.git` marks, whoever owns it.

    Bare repositories are skipped: their parts are ordinary files, so anyone who can add files to a
    clone could plant one.
    """
    folder = os.path.abspath(start)
    while True:
        dot_git = folder + "/.git" if folder != "/" else "/.git"
        if os.path.isdir(dot_git):
            if is_git_dir(dot_git):
                return _main(folder, dot_git)
            if os.path.lexists(dot_git + "/commondir"):
                return None  # git never creates such a link; it would lead to another repository
        elif os.path.isfile(dot_git):
            # A broken pointer ends the search, as in git: the outer repository is another one.
            return _pointed(dot_git, folder)
        # Git commits no file of this name, so this is a real git folder.
        if os.path.basename(folder) == ".git" and is_git_dir(folder):
            return Location(None, folder, folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def named(environ: "Mapping[str, str]") -> Location | None:
    """The repository that `GIT_DIR` names."""
    if not environ.get("GIT_DIR"):
        return None
    git_dir = os.path.abspath(environ["GIT_DIR"])
    common_dir = git_dir if is_git_dir(git_dir) else common_of(git_dir)
    if common_dir is None:
        return None
    worktree = environ.get("GIT_WORK_TREE")
    if worktree:
        return Location(os.path.abspath(worktree), git_dir, common_dir)
    if git_dir != common_dir:
        return Location(worktree_at(git_dir), git_dir, common_dir)
    is_bare, elsewhere = core(git_dir)
    folder = os.path.normpath(os.path.join(git_dir, elsewhere)) if elsewhere else ""
    return Location(folder if folder and not is_bare else None, git_dir, common_dir)


def is_git_dir(folder: str) -> bool:
    """Whether a folder is a repository's git folder, not that of a linked worktree."""
    return (
        os.path.exists(folder + "/HEAD")
        and os.path.isdir(folder + "/objects")
        and os.path.isdir(folder + "/refs")
        and not os.path.lexists(folder + "/commondir")
    )


def _main(folder: str, git_dir: str) -> Location:
    """The repository of a `.git` in `folder`. With linked worktrees beside it, it may be bare."""
    return Location(None if core(git_dir)[0] else folder, git_dir, git_dir)


def core(git_dir: str) -> "tuple[bool, str]":
    """`core.bare` and `core.worktree` in a git folder's configuration; empty if it is not set."""
    is_bare, worktree = False, ""
    lines = _config_lines(git_dir + "/config")
    if [line for line in lines if line.lower().startswith("worktreeconfig")]:
        lines += _config_lines(git_dir + "/config.worktree")  # git moves both keys there
    section = ""
    for line in lines:
        if line.startswith("["):
            section, _, line = line.partition("]")
            line = line.strip()
        if section.lower() == "[core" and line:
            key, equals, value = line.partition("=")
            key, value = key.strip().lower(), value.strip()
            if key == "bare":
                is_bare = not equals or value.lower() in ("true", "yes", "on", "1")
            elif key == "worktree":
                worktree = _unquoted(value)
    return is_bare, worktree


def _config_lines(path: str) -> "list[str]":
    try:
        with open(path, "rb") as file:
            text = os.fsdecode(file.read(CONFIG_LIMIT))
    except OSError:
        return []
    if "bare" not in text.lower() and "worktree" not in text.lower():
        return []
    return [line.strip() for line in text.split("\n")]


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    value = value.partition("\0")[0]  # no path has a zero byte
    return value.replace('\\"', '"').replace("\\\\", "\\")


def _pointed(dot_git: str, folder: str) -> Location | None:
    """The repository that a `.git` file points to."""
    line = read_line(dot_git)
    if not line.startswith(POINTER):
        return None
    git_dir = os.path.normpath(os.path.join(folder, line[len(POINTER) :]))
    if is_git_dir(git_dir):
        return _main(folder, git_dir)
    common_dir = common_of(git_dir)
    if common_dir is None or not _points_back(git_dir, dot_git):
        return None
    return Location(folder, git_dir, common_dir)


def common_of(git_dir: str) -> str | None:
    """The repository of a linked worktree, whose own git folder is always below `worktrees`."""
    line = read_line(git_dir + "/commondir")
    if not line or not os.path.exists(git_dir + "/HEAD"):
        return None
    common_dir = os.path.normpath(os.path.join(git_dir, line))
    is_inside = same(os.path.dirname(git_dir), common_dir + "/worktrees")
    return common_dir if is_inside and is_git_dir(common_dir) else None


def _points_back(git_dir: str, dot_git: str) -> bool:
    """Whether a linked worktree's git folder points back to this worktree."""
    line = read_line(git_dir + "/gitdir")
    return bool(line) and same(os.path.normpath(os.path.join(git_dir, line)), dot_git)


def same(left: str, right: str) -> bool:
    """Whether two paths lead to one place."""
    if left == right:
        return True
    try:
        return os.path.samefile(left, right)
    except OSError:
        return False


def read_line(path: str) -> str:
    """The content of a file of one line; empty if it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # `open` takes three times as long
    except OSError:
        return ""
    try:
        line = os.fsdecode(os.read(file, 4096)).strip()
        return "" if "\0" in line else line  # no path has a zero byte
    except OSError:  # a folder
        return ""
    finally:
        os.close(file)


def worktree_at(git_dir: str) -> str | None:
    """The folder of the worktree with this git folder; None if only git can tell."""
    if os.path.basename(git_dir) == ".git":
        return os.path.dirname(git_dir)
    line = read_line(git_dir + "/gitdir")
    dot_git = os.path.normpath(os.path.join(git_dir, line))
    return os.path.dirname(dot_git) if line and os.path.basename(dot_git) == ".git" else None


def is_owned(place: Location, environ: "Mapping[str, str]") -> bool:
    """Whether the user owns the worktree, its `.git` and both git folders, as git demands. For
    root, the user who called `sudo` counts, too."""
    users = _users(environ)
    try:
        if any(os.stat(path).st_uid not in users for path in {place.git_dir, place.common_dir}):
            return False
        if place.toplevel is None:
            return True
        # A link belongs to its creator, whatever its target.
        return os.stat(place.toplevel).st_uid in users and _owner(place.toplevel) in (None, *users)
    except OSError:
        return False


def _users(environ: "Mapping[str, str]") -> list[int]:
    user = os.geteuid()
    caller = environ.get("SUDO_UID", "")
    return [user, int(caller)] if user == 0 and caller.isascii() and caller.isdigit() else [user]


def _owner(toplevel: str) -> int | None:
    """The owner of a worktree's `.git`; None if `GIT_WORK_TREE` names a folder without one."""
    try:
        return os.lstat(toplevel + "/.git").st_uid
    except FileNotFoundError:
        return None


def link_out(common_dir: str) -> str | None:
    """A folder of ours that is a link out of the git folder, so writes would go elsewhere."""
    ours = common_dir + "/ghp"
    if os.path.islink(ours) and _leads_out(ours, common_dir):
        return ours
    try:
        with os.scandir(ours) as entries:
            links = [entry.path for entry in entries if entry.is_symlink()]
    except OSError:  # nothing was created here yet
        return None
    return next((path for path in links if _leads_out(path, common_dir)), None)


def _leads_out(path: str, common_dir: str) -> bool:
    return not os.path.realpath(path).startswith(os.path.realpath(common_dir) + "/")


def branch(git_dir: str) -> str | None:
    """The branch checked out in this worktree, without starting git; None when detached."""
    head = read_line(git_dir + "/HEAD")
    name = head[len("ref: refs/heads/") :] if head.startswith("ref: refs/heads/") else ""
    # HEAD reads like this with reftables, which only git can read.
    return name if name not in ("", ".invalid") else None


def issue_of_branch(branch: str) -> int | None:
    """The number of the issue that a branch is for, by upstream GHP's patterns in their order:
    `/12-`, `^12-`, `-12-` and `[/#]12$`. Without `re`, which costs as much as an edit check."""
    import itertools  # a heartbeat does not need it

    numbers, at = [], 0
    for is_number, characters in itertools.groupby(branch, str.isdecimal):
        text = "".join(characters)
        end = at + len(text)
        if is_number:
            numbers.append((branch[at - 1 : at] if at else "", text, branch[end : end + 1]))
        at = end
    for starts, stop in ((("/",), "-"), (("",), "-"), (("-",), "-"), (("/", "#"), "")):
        matches = (int(text) for start, text, after in numbers if start in starts and after == stop)
        number = next(matches, 0)
        if 0 < number < NUMBERS_END:
            return number
    return None


def guard_is_current(common_dir: str, environ: "Mapping[str, str]") -> bool:
    """Whether nothing that decides which hooks git runs has changed since git's guard was right, or
    no guard is installed."""
    try:
        os.stat(f"{common_dir}/ghp/hooks/{GUARDED[0]}")
    except OSError:
        return True
    return _content(f"{common_dir}/{GUARD_STAMP}") == guard_stamp(common_dir, environ)


def guard_stamp(common_dir: str, environ: "Mapping[str, str]") -> bytes:
    """What decides which hooks git runs here: the hooks, and what configurations say of paths."""
    home = environ.get("HOME", "/")
    above = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    parts: list[bytes] = []
    for name in GUARDED:
        try:
            hook = os.lstat(f"{common_dir}/hooks/{name}")
            sign = f"{hook.st_ino} {hook.st_size} {hook.st_mtime_ns} {hook.st_mode}"
        except OSError:
            sign = ""
        parts.append(f"{name} {sign}".encode())
    clones = _content(f"{common_dir}/config")
    texts = [clones, _content(f"{home}/.gitconfig"), _content(f"{above}/git/config")]
    if b"worktreeconfig" in clones.lower():
        folders = ["", *(f"worktrees/{name}/" for name in _names(f"{common_dir}/worktrees"))]
        texts += [_content(f"{common_dir}/{folder}config.worktree") for folder in folders]
    for text in texts:
        # Branches and remotes come and go; a hooks path and includes have this word.
        parts += [line.strip() for line in text.split(b"\n") if b"path" in line.lower()]
    return b"\n".join(parts)


def _names(folder: str) -> "list[str]":
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(CONFIG_LIMIT)
    except OSError:
        return b""
