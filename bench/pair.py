"""Pairs of concurrent changes of real projects, and the texts that replay them."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "pairs"
PROJECTS = ("click", "black", "pytest")
ABSENT = -1  # the length of a file that the base does not have


class Hunk(NamedTuple):
    """Lines of the base that a change replaces; an insertion stands before `line`."""

    line: int  # from 1
    deleted: int
    added: int
    text: str  # the hash of the added text

    def lines(self) -> list[str]:
        """The added text, made from its hash."""
        return [f"{self.text} {number}\n" for number in range(1, self.added + 1)]


@dataclass(frozen=True, slots=True)
class Touch:
    """What a change does to one file; `kind` is M, A, D, or empty."""

    kind: str
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class PairFile:
    """A file of the base, and what each of the two changes does to it."""

    lines: int
    touches: tuple[Touch, Touch]

    def base(self, name: str) -> list[str] | None:
        """Numbered lines; None if the base does not have the file."""
        if self.lines == ABSENT:
            return None
        return [f"line {number} of {name}\n" for number in range(1, self.lines + 1)]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two changes on one base; `conflict` is git's answer for the real texts."""

    name: str
    conflict: bool
    files: Mapping[str, PairFile]

    def base(self) -> dict[str, list[str]]:
        """The files of the base, by path."""
        found = {path: each.base(path) for path, each in self.files.items()}
        return {path: lines for path, lines in found.items() if lines is not None}

    def shared(self) -> list[str]:
        """The paths that both changes touch."""
        return [path for path, each in self.files.items() if all(t.kind for t in each.touches)]


def load(path: Path) -> list[Pair]:
    """The pairs of one project."""
    content = path.read_bytes()
    fields = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    name = path.name.partition(".")[0]
    return [_pair(f"{name} {number}", item) for number, item in enumerate(fields["pairs"], 1)]


def of_projects() -> dict[str, list[Pair]]:
    """The pairs of all projects, by the project's name."""
    return {name: load(FOLDER / f"{name}.json.gz") for name in PROJECTS}


def applied(base: Sequence[str] | None, hunks: Sequence[Hunk]) -> list[str]:
    """The lines of a file after `hunks`, which are in lines of the base."""
    lines = list(base or ())
    for hunk in sorted(hunks, reverse=True):
        at = min(hunk.line - 1, len(lines))
        lines[at : at + hunk.deleted] = hunk.lines()
    return lines


def _pair(name: str, item: Mapping[str, Any]) -> Pair:
    files = {f"src/f{key}.py": _file(*fields) for key, fields in sorted(item["files"].items())}
    return Pair(name, item["conflict"], files)


def _file(lines: int, first: str, second: str, one: Sequence[Any], two: Sequence[Any]) -> PairFile:
    touches = (_touch(first, one), _touch(second, two))
    return PairFile(lines, touches)


def _touch(kind: str, hunks: Sequence[Any]) -> Touch:
    return Touch(kind, tuple(Hunk(*hunk) for hunk in hunks))
