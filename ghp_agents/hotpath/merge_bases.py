"""The commits that two worktrees are on, and their merge base, which is remembered.

Refs are read as files where they are files; git is asked for the rest.
"""

import os

from ghp_agents.hotpath import own_file
from ghp_agents.hotpath.git_calls import in_worktree, run_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "merge-bases"
KEPT = 300  # pairs of commits
LARGEST = 16_000_000  # bytes of `packed-refs` that are read here
LEVELS = 5  # of symbolic refs
_OWN = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")  # each worktree has its own
_DIGITS = "0123456789abcdef"


class Heads:
    """The commits that worktrees are on."""

    def __init__(
        self, toplevel: str, common_dir: str, environ: "Mapping[str, str]", until: float
    ) -> None:
        self._toplevel = toplevel
        self._common_dir = common_dir
        self._environ = environ
        self._until = until

    def of(self, git_dirs: "Sequence[str]") -> "list[str]":
        """The commit of each worktree, by its git folder; empty if it has none."""
        commits = [head(self._common_dir, git_dir) for git_dir in git_dirs]
        missing = [number for number, commit in enumerate(commits) if not commit]
        calls = [
            in_worktree(
                self._toplevel, self._environ, "rev-parse", "--verify", "--quiet",
                f"{_spelled(git_dirs[number], self._common_dir)}/HEAD^{{commit}}",
            )
            for number in missing
        ]  # fmt: skip
        for number, (code, out) in zip(missing, run_all(calls, self._until), strict=True):
            commits[number] = _commit(out.decode("ascii", "replace")) if code == 0 else ""
        return commits


def _spelled(git_dir: str, common_dir: str) -> str:
    """How git names a worktree's refs from any other worktree."""
    is_main = git_dir == common_dir
    return "main-worktree" if is_main else f"worktrees/{os.path.basename(git_dir)}"


def head(common_dir: str, git_dir: str) -> str:
    """The commit that is checked out, if files show it; else empty."""
    text = _read(git_dir + "/HEAD")
    for _ in range(LEVELS):
        if not text.startswith("ref: "):
            return _commit(text)
        name = text[len("ref: ") :].strip()
        if not name.startswith("refs/") or ".." in name:
            return ""
        home = git_dir if name.startswith(_OWN) else common_dir
        text = _read(f"{home}/{name}") or _packed(common_dir, name)
    return ""


def tip(common_dir: str, ref: str) -> str:
    """The commit of a full ref, if files show it; else empty."""
    for _ in range(LEVELS):
        if not ref.startswith("refs/") or ".." in ref:
            return ""
        text = _read(f"{common_dir}/{ref}") or _packed(common_dir, ref)
        if not text.startswith("ref: "):
            return _commit(text)
        ref = text[len("ref: ") :].strip()
    return ""


def _read(path: str, limit: int = 4_096) -> str:
    try:
        file = own_file.open_to_read(path)
    except (OSError, ValueError):
        return ""
    try:
        if os.fstat(file).st_size > limit:
            return ""
        return os.fsdecode(os.read(file, limit))
    except OSError:  # a folder
        return ""
    finally:
        os.close(file)


def _packed(common_dir: str, name: str) -> str:
    text = "\n" + _read(common_dir + "/packed-refs", LARGEST)
    end = text.find(f" {name}\n")
    return text[text.rfind("\n", 0, end) + 1 : end] if end > 0 else ""


def _commit(text: str) -> str:
    text = text.strip()
    return text if len(text) in (40, 64) and not text.strip(_DIGITS) else ""


def merge_bases(
    toplevel: str,
    folder: str,
    pairs: "Sequence[tuple[str, str]]",
    environ: "Mapping[str, str]",
    until: float,
) -> "list[str]":
    """The merge base of each pair of commits; empty if there is none. `folder` has the cache."""
    bases = _cached(folder)
    wanted = [pair for pair in pairs if pair[0] != pair[1] and _key(pair) not in bases]
    wanted = list(dict.fromkeys(wanted))
    if wanted:
        calls = [in_worktree(toplevel, environ, "merge-base", *pair) for pair in wanted]
        fresh: dict[str, str] = {}
        for pair, (code, out) in zip(wanted, run_all(calls, until), strict=True):
            base = _commit(out.decode("ascii", "replace").partition("\n")[0])
            if code == 0 and base:
                fresh[_key(pair)] = base
        bases |= fresh
        _keep(folder, bases)
    return [pair[0] if pair[0] == pair[1] else bases.get(_key(pair), "") for pair in pairs]


def _key(pair: "tuple[str, str]") -> str:
    return " ".join(sorted(pair))


def _cached(folder: str) -> "dict[str, str]":
    bases: dict[str, str] = {}
    for line in _read(f"{folder}/cache/{NAME}", 200 * KEPT).splitlines():
        words = line.split(" ")
        if len(words) == 3 and all(map(_commit, words)):
            bases[" ".join(words[:2])] = words[2]
    return bases


def _keep(folder: str, bases: "Mapping[str, str]") -> None:
    lines = [f"{key} {base}\n" for key, base in bases.items()][-KEPT:]
    try:
        os.makedirs(folder + "/cache", exist_ok=True)
        own_file.replace(f"{folder}/cache/{NAME}", "".join(lines).encode("ascii"))
    except OSError:
        return  # git is asked again
