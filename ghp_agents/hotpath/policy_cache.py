"""The compiled policy for edit checks: one file that is read without heavy imports.

It is used only if its stamp is fresh. `guard/evaluate.py` writes it; this module stores it and
looks up paths. Patterns without wildcards are dictionary keys, so a thousand leases cost no more
than one. Other patterns are tried only if their literal beginning matches.

`folder` is the clone's own folder in the home: a run could change a file of the git folder.
"""

import os

from ghp_agents.hotpath import fastjson, own_file, policy_stamp
from ghp_agents.hotpath.policy_stamp import Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ghp_agents.hotpath.policy_stamp import Stamp

    Book = dict[str, Any]
    # The index of a rule, the index of its pattern, and whether the pattern includes.
    Hit = tuple[int, int, bool]

NAME = "rulebook.json"
VERSION = 6
LARGEST = 64_000_000  # bytes; ours are smaller


def load(sources: Sources) -> "Book | None":
    """The policy, if it exists and the state is unchanged since."""
    cached = _read(path_of(sources.home))
    book = _parse_policy(cached[1]) if cached else None
    if cached is None or book is None:
        return None
    book["own"] = cached[0]
    return book if is_current(sources, book) else None


def is_current(sources: Sources, book: "Book") -> bool:
    """Whether a policy loaded a moment ago is still complete."""
    return policy_stamp.is_fresh(sources, book["own"], book["stamp"])


def may_have_expired(book: "Book", now: float) -> bool:
    """Whether a lease in it that another clone granted may have expired."""
    return book["lapses"] is not None and bool(now >= book["lapses"])


def exists(folder: str) -> bool:
    """Whether this clone has a compiled policy."""
    return os.path.exists(path_of(folder))


def read_stale(folder: str) -> "Book | None":
    """The last compiled policy, which may be stale."""
    cached = _read(path_of(folder))
    return _parse_policy(cached[1]) if cached else None


def _parse_policy(data: bytes) -> "Book | None":
    """A policy of this version; None for anything else."""
    try:
        book = fastjson.decode(data.decode("ascii"))
    except ValueError:
        return None
    is_ours = isinstance(book, dict) and book.get("version") == VERSION
    return book if is_ours and isinstance(book.get("stamp"), dict) else None


def keep(folder: str, own: str, stamp: "Stamp", book: "Book") -> None:
    """Write a policy atomically. Raises OSError."""
    os.makedirs(folder, exist_ok=True)
    whole = {"version": VERSION, "stamp": stamp} | book
    own_file.replace(path_of(folder), own.encode("ascii") + b"\n" + fastjson.encode(whole))


def drop(folder: str) -> None:
    """Delete the policy; then every decision takes the slow path."""
    try:
        os.unlink(path_of(folder))
    except OSError:
        return


def restamp(folder: str, ref: str, old: str, new: str) -> None:
    """After a commit that changes no rule: a policy compiled at `old` is also valid at `new`.

    Only for the process that moved `ref` from one to the other by compare-and-swap.
    """
    cached = _read(path_of(folder))
    if cached is None or cached[0].split(" ")[1:] != [ref, old]:
        return
    try:
        own_file.replace(path_of(folder), f"loose {ref} {new}\n".encode("ascii") + cached[1])
    except OSError:
        return  # then it is stale, and nobody uses it


def path_of(folder: str) -> str:
    """The path of a clone's policy."""
    return f"{folder}/{NAME}"


def _read(path: str) -> "tuple[str, bytes] | None":
    """The first line, which names this clone's commit, and the rest."""
    try:
        file = own_file.open_to_read(path)
    except OSError:
        return None
    try:
        size = os.fstat(file).st_size
        data = os.read(file, size + 1) if 0 < size < LARGEST else b""
    except OSError:
        return None
    finally:
        os.close(file)
    line, end, rest = data.partition(b"\n")
    return (line.decode("ascii", "replace"), rest) if end and len(data) == size else None


def key_of(book: "Book", path: str) -> str:
    """A path as the policy compares it: in lower case if case is ignored."""
    return path.lower() if book["fold"] else path


def is_plain(path: str) -> bool:
    """Whether git could have this path: relative, without detours."""
    return not {"", ".", ".."}.intersection(path.split("/")) and "\0" not in path


def may_write(book: "Book", agent: str, path: str) -> "str | None":
    """The card that forbids an agent to write a path; None if none does."""
    permission = book["writes"].get(agent)
    if permission is None:
        return None
    card, sources = permission
    key = key_of(book, path)
    fits = any(_search()(source, key) for source in sources)
    return None if fits else str(card)


def covering(book: "Book", path: str) -> list[int]:
    """The indexes of the rules that cover a path, in order. In each rule the last matching pattern
    decides."""
    last: dict[int, tuple[int, bool]] = {}
    for number, position, include in _hits(book, key_of(book, path)):
        if number not in last or position > last[number][0]:
            last[number] = (position, include)
    return sorted(number for number, (_, include) in last.items() if include)


def _hits(book: "Book", key: str) -> "list[Hit]":
    hits: list[Hit] = []
    paths, names, endings, globs = (book[name] for name in ("paths", "names", "endings", "globs"))
    parts = key.split("/")
    place = ""
    for depth, part in enumerate(parts, 1):
        is_file = depth == len(parts)
        _match(globs.get(place, ()), key, hits)
        place += part
        _add(paths.get(place, ()), is_file, hits)
        _add(names.get(part, ()), is_file, hits)
        dot = part.find(".") if endings else -1
        while dot >= 0:
            _add(endings.get(part[dot:], ()), is_file, hits)
            dot = part.find(".", dot + 1)
        place += "/"
    return hits


def _add(postings: "Sequence[Sequence[Any]]", is_file: bool, hits: "list[Hit]") -> None:
    for number, position, include, only_below in postings:
        if not (only_below and is_file):
            hits.append((number, position, include))


def _match(postings: "Sequence[Sequence[Any]]", key: str, hits: "list[Hit]") -> None:
    for number, position, include, prefix, source in postings:
        if key.startswith(prefix) and _search()(source, key):
            hits.append((number, position, include))


def _search() -> "Callable[[str, str], Any]":
    """Regular expressions cost a third of Python's start, so they are imported only if needed."""
    from re import search

    return search
