"""Histories to replay: a base, and branches from it, each with commits in order."""

import random
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bench.place import Place

TEXTS = (".py", ".rst", ".md", ".txt", ".toml", ".cfg", ".in")
WORDS = ("row", "table", "age", "total", "name", "path", "found", "left", "value", "key")


class Change(NamedTuple):
    """A file as a commit changes it."""

    path: str
    content: bytes | None  # None: deleted
    source: str | None = None  # the old name, if it was renamed


Commit = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """The commits of one agent."""

    name: str
    home: str  # the folder that it changes most
    commits: tuple[Commit, ...]

    def renames(self) -> dict[str, str]:
        """The new names of files by their old ones."""
        return {c.source: c.path for commit in self.commits for c in commit if c.source}


@dataclass(frozen=True, slots=True)
class History:
    """The base files and the branches."""

    base: Mapping[str, bytes]
    branches: tuple[Branch, ...]


# ---------------------------------------------------------------------------- into a repository


def write(history: History, folder: Path) -> None:
    """Create the branches in the repository at `folder`; their base replaces `main`."""
    stream = b"".join(_stream(history))
    command = ["git", "fast-import", "--quiet", "--done", "--force"]
    subprocess.run(command, cwd=folder, input=stream, check=True)
    reset = ["git", "reset", "--quiet", "--hard", "main"]
    subprocess.run(reset, cwd=folder, check=True)


def _stream(history: History) -> Iterator[bytes]:
    base = tuple(Change(path, content) for path, content in sorted(history.base.items()))
    yield _commit("main", "base", base, b"deleteall\n")
    for branch in history.branches:
        start = b"from refs/heads/main\n"
        for number, commit in enumerate(branch.commits):
            yield _commit(branch.name, f"{branch.name} {number + 1}", commit, start)
            start = b""
    yield b"done\n"


def _commit(branch: str, subject: str, commit: Commit, start: bytes) -> bytes:
    parts = [
        f"commit refs/heads/{branch}\n"
        f"committer Bench <bench@example.invalid> 1750000000 +0000\n"
        f"data {len(subject)}\n{subject}\n".encode(),
        start,
    ]
    for change in commit:
        if change.source:
            parts.append(f"D {change.source}\n".encode())
        if change.content is None:
            parts.append(f"D {change.path}\n".encode())
        else:
            head = f"M 100644 inline {change.path}\ndata {len(change.content)}\n".encode()
            parts += [head, change.content, b"\n"]
    return b"".join(parts)


# ------------------------------------------------------------------------------- generated


def generated(seed: int, *, files: int, branches: int) -> History:
    """A project and its branches, the same for the same seed."""
    rng = random.Random(seed)
    base = {path: _text(rng, _long_tailed(rng, 100, 1.4, 2_000)) for path in _paths(files)}
    weights = {path: (rank + 1) ** -0.8 for rank, path in enumerate(_shuffled(rng, base))}
    written = tuple(_Author(rng, base, weights, f"b-{i + 1}").branch() for i in range(branches))
    return History({path: _joined(lines) for path, lines in base.items()}, written)


def _paths(files: int) -> list[str]:
    top = ["README.md", "CHANGES.md", "pyproject.toml"]
    parts = max(2, files // 12)
    return top + [f"src/part_{i % parts}/file_{i}.py" for i in range(files - len(top))]


def _shuffled(rng: random.Random, base: Mapping[str, list[str]]) -> list[str]:
    """Files by how often they change; the changelog comes first, as in most projects."""
    rest = [path for path in base if path != "CHANGES.md"]
    rng.shuffle(rest)
    return ["CHANGES.md", *rest]


def _long_tailed(rng: random.Random, median: float, sigma: float, most: int) -> int:
    return max(1, min(most, round(median * rng.lognormvariate(0, sigma))))


def _text(rng: random.Random, lines: int) -> list[str]:
    return [_line(rng) for _ in range(lines)]


def _line(rng: random.Random) -> str:
    if rng.random() < 0.15:
        return ""
    return f"{rng.choice(WORDS)} = {rng.choice(WORDS)}({rng.randrange(100_000)})"


def _joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@dataclass
class _Author:
    """The author of a branch."""

    rng: random.Random
    base: Mapping[str, list[str]]
    weights: Mapping[str, float]
    name: str
    files: dict[str, list[str]] = field(init=False)
    home: str = field(init=False)
    new_files: int = 0

    def __post_init__(self) -> None:
        self.files = {path: [*lines] for path, lines in self.base.items()}
        folders = sorted({path.rpartition("/")[0] for path in self.base} - {""})
        self.home = self.rng.choice(folders)

    def branch(self) -> Branch:
        commits = _long_tailed(self.rng, 2, 0.9, 12)
        return Branch(self.name, self.home, tuple(self._commit() for _ in range(commits)))

    def _commit(self) -> Commit:
        wanted = {self._choose() for _ in range(_long_tailed(self.rng, 3, 1.03, 30))}
        return tuple(self._change(path) for path in sorted(wanted))

    def _choose(self) -> str:
        if self.rng.random() < 0.04:
            self.new_files += 1
            # Sometimes a shared name, as two agents may choose it for the same new file.
            shared = "helpers" if self.rng.random() < 0.1 else f"{self.name}_new_{self.new_files}"
            return f"{self.home}/{shared}.py"
        at_home = [path for path in self.files if path.startswith(f"{self.home}/")]
        some = at_home if at_home and self.rng.random() < 0.5 else [*self.files]
        (path,) = self.rng.choices(some, [self.weights.get(path, 0.1) for path in some])
        return path

    def _change(self, path: str) -> Change:
        rng, lines = self.rng, self.files.pop(path, None)
        if lines is None:
            self.files[path] = lines = _text(rng, _long_tailed(rng, 40, 1.0, 400))
            return Change(path, _joined(lines))
        luck = rng.random()
        if luck < 0.01 and path in self.base:
            return Change(path, None)
        for _ in range(_long_tailed(rng, 2, 1.2, 32)):
            self._hunk(lines)
        new = f"{path.removesuffix('.py')}_renamed.py"
        renamed = luck < 0.025 and path in self.base and path.endswith(".py") and len(lines) > 30
        name = new if renamed and new not in self.files else path
        self.files[name] = lines
        return Change(name, _joined(lines), path if name != path else None)

    def _hunk(self, lines: list[str]) -> None:
        size = _long_tailed(self.rng, 2, 1.4, 200)
        at = self.rng.randrange(len(lines) + 1)
        kind = self.rng.random()
        old = 0 if kind < 0.35 else size if kind < 0.45 else (size + 1) // 2
        new = size - old if kind >= 0.45 or kind < 0.35 else 0
        lines[at : at + old] = [_line(self.rng) for _ in range(max(new, 0 if old else 1))]


# ------------------------------------------------------------------------------- of releases


def of_releases(place: Place, package: str, versions: tuple[str, ...]) -> History | None:
    """A package's releases as branches of the first one: the files that each really changed, five
    to a commit. None, with a message, if pip cannot download them."""
    folder = place.new("releases")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"]
    wanted = [f"{package}=={version}" for version in versions]
    trees = []
    for requirement in wanted:
        done = subprocess.run([*command, requirement], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            last = done.stderr.strip().rpartition("\n")[2]
            place.say(
                f"replay: {requirement} cannot be downloaded, so releases are left out: {last}"
            )
            return None
        (archive,) = folder.glob("*.tar.gz")
        trees.append(_texts(archive))
        archive.unlink()
    branches = [
        Branch(f"r-{version}", "", tuple(_released(before, after)))
        for version, before, after in zip(versions[1:], trees[:-1], trees[1:], strict=True)
    ]
    return History(trees[0], tuple(branch for branch in branches if branch.commits))


def _texts(archive: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(archive) as files:
        for member in files.getmembers():
            path = member.name.partition("/")[2]
            generated_by_build = ".egg-info/" in path or path in ("PKG-INFO", "setup.cfg")
            if member.isfile() and path.endswith(TEXTS) and not generated_by_build:
                content = files.extractfile(member)
                assert content is not None
                found[path] = content.read()
    return found


def _released(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[Commit]:
    changed = [path for path in sorted(after) if after[path] != before.get(path)]
    for start in range(0, len(changed), 5):
        yield tuple(Change(path, after[path]) for path in changed[start : start + 5])
