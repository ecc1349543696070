"""Git's judgement: which files of two states of one base conflict when they are merged."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.place import git

Files = Mapping[str, str | None]  # the content of changed files by path; None: deleted
REF = "refs/bench/state"
WHO = b"committer Bench <bench@example.invalid> 1700000000 +0000\n"


class Question(NamedTuple):
    """A merge of two states of a base."""

    base: Files
    one: Files
    two: Files


class Merged(NamedTuple):
    """The result of a merge: its tree, and the paths that conflict."""

    tree: str
    paths: frozenset[str]


class Commits:
    """Commits made by one `git fast-import`; equal files are written once."""

    def __init__(self) -> None:
        self._stream: list[bytes] = []
        self._blobs: dict[str, int] = {}
        self._mark = 0

    def base(self, files: Files) -> int:
        """A commit without a parent; returns its mark."""
        return self._commit(files, None)

    def change(self, parent: int, files: Files) -> int:
        """A commit on `parent`; returns its mark."""
        return self._commit(files, parent)

    def _commit(self, files: Files, parent: int | None) -> int:
        blobs = {path: self._blob(text) for path, text in files.items() if text is not None}
        mark = self._next()
        lines = [f"commit {REF}\nmark :{mark}\n".encode(), WHO, b"data 0\n"]
        lines.append(f"from :{parent}\n".encode() if parent else b"")
        for path, text in files.items():
            change = f"D {path}\n" if text is None else f"M 100644 :{blobs[path]} {path}\n"
            lines.append(change.encode())
        reset = [] if parent else [f"reset {REF}\n\n".encode()]
        self._stream += [*reset, *lines, b"\n"]
        return mark

    def _blob(self, text: str) -> int:
        if text not in self._blobs:
            content = text.encode()
            self._blobs[text] = self._next()
            head = f"blob\nmark :{self._blobs[text]}\ndata {len(content)}\n".encode()
            self._stream += [head, content, b"\n"]
        return self._blobs[text]

    def _next(self) -> int:
        self._mark += 1
        return self._mark

    def write(self, repository: Path) -> dict[int, str]:
        """Write all objects; returns their ids by mark."""
        return write(repository, b"".join(self._stream))


def write(repository: Path, stream: bytes) -> dict[int, str]:
    """Write a stream of `git fast-import`; returns the ids of its marks."""
    marks = repository / "bench-marks"
    command = ["git", "fast-import", "--quiet", "--force", f"--export-marks={marks}"]
    subprocess.run(command, cwd=repository, input=stream, check=True)
    listed = (line.split() for line in marks.read_text().splitlines())
    return {int(mark[1:]): found for mark, found in listed}


def conflicts(repository: Path, questions: Sequence[Question]) -> list[frozenset[str]]:
    """The conflicting paths of each merge, by `git merge-tree`; a bare repository takes the
    objects."""
    commits = Commits()
    bases: dict[int, int] = {}
    marks: list[tuple[int, int]] = []
    for base, one, two in questions:
        if id(base) not in bases:
            bases[id(base)] = commits.base(base)
        parent = bases[id(base)]
        marks.append((commits.change(parent, one), commits.change(parent, two)))
    names = commits.write(repository)
    asked = "".join(f"{names[one]} {names[two]}\n" for one, two in marks)
    found = merged(repository, asked)
    if len(found) != len(questions):
        raise RuntimeError(f"git answered {len(found)} of {len(questions)} merges")
    return [each.paths for each in found]


def merged(repository: Path, asked: str) -> list[Merged]:
    """The result of each merge; a line has the ids of two commits."""
    command = ["git", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--stdin"]
    done = subprocess.run(
        command, cwd=repository, input=asked, capture_output=True, text=True, check=True
    )
    return list(_answers(iter(done.stdout.split("\0"))))


def _answers(words: Iterator[str]) -> Iterator[Merged]:
    """The answers of `git merge-tree --stdin`: a status, a tree, conflicting paths, a blank."""
    while status := next(words, ""):
        if status not in ("0", "1"):
            raise RuntimeError(f"git could not merge: {status}")
        yield Merged(next(words), frozenset(_until_blank(words)))


def _until_blank(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if not word:
            return
        yield word


def new_repository(folder: Path) -> Path:
    """A bare repository for `conflicts`."""
    git(folder.parent, "init", "-q", "--bare", str(folder))
    return folder
