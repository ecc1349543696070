"""Patterns with the meaning that `.gitignore` gives them. The only user of pathspec, imported late.

Patterns are relative to the repository's root (see `glob_paths.py`). The last match wins, also
below an excluded folder: `src/` with `!src/gen.py` excludes that file.
"""

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import is_plain, literal_start, unescaped
from ghp_agents.core.ids import one_line

_LAST = "\U0010ffff"  # sorts after everything that can follow a prefix
PROBE = "\x00"  # a file name that nobody has
# Parts of pathspec's expressions: repeated stars, a negated bracket, and a star with the text up to
# the next star of the same name.
_STARS = re.compile(r"(?:\[\^/\]\*){2,}")
_NEGATED = re.compile(r"(?<!\\)((?:\\\\)*)\[\^(?!/\])")
_TO_NEXT_STAR = re.compile(
    r"\[\^/\]\*((?:\\.|\[(?:\\.|[^\]\\])+\](?!\*)|[^\\/()\[\]|*+?{}^$.])+)(?=\[\^/\]\*)"
)


class Glob(NamedTuple):
    """One pattern, ready to match by `re.compile(source).search(path)`.

    Without wildcards, `path` is the only path that it matches, or `name` the name that it matches
    in any folder. Then a dictionary can replace the expression.
    """

    source: str  # a Python regular expression without named groups
    include: bool  # False: the pattern began with `!`
    prefix: str  # every match begins with this
    path: str | None = None
    name: str | None = None
    only_below: bool = False  # it ended with `/`: no file of that name matches


@functools.lru_cache(maxsize=8192)
def rule(pattern: str, *, fold: bool = False) -> Glob:
    """Compile a pattern; `fold` ignores case. Raises UsageError."""
    from pathspec import GitIgnoreSpec

    try:
        (compiled,) = GitIgnoreSpec.from_lines([pattern]).patterns
        regex = getattr(compiled, "regex", None)
    except (ValueError, re.error) as error:
        regex, why = None, str(error)
    else:
        why = "it matches nothing"
    if regex is None or compiled.include is None:
        raise UsageError(
            f"{one_line(pattern, 60)!r} is not a valid pattern: {one_line(why, 100)}.",
            hint="Use .gitignore syntax: src/parser/ or '*.sql'.",
        )
    source = _portable(regex.pattern, fold=fold)
    body = pattern.removeprefix("!")
    only_below, place = body.endswith("/"), body.rstrip("/")
    is_rooted = "/" in place
    plain = unescaped(place.removeprefix("/")) if is_plain(place) else None
    return Glob(
        source=source,
        include=compiled.include,
        prefix=literal_start(place.removeprefix("/")) if is_rooted and not fold else "",
        path=plain if is_rooted else None,
        name=None if is_rooted else plain,
        only_below=only_below,
    )


def _portable(source: str, *, fold: bool) -> str:
    """An expression that works in any regex: names may hold line ends, expressions may be joined,
    and pathspec's versions differ in what they add."""
    unnamed = source.replace("(?P<ps_d>/)", "/")  # safe: no name has a `/`
    ended = _without_backtracking(re.sub(r"\$(\)?)\Z", r"\\Z\1", unnamed))
    ended = ended.replace(r"(?:/.*)?\Z", r"(?:/|\Z)")  # in older versions "and all below"
    return f"(?{'si' if fold else 's'}:{ended})"


def _without_backtracking(source: str) -> str:
    """The same expression without useless backtracking: all stars but the last take the first
    match. Otherwise ten stars take seconds."""
    single = _STARS.sub("[^/]*", source)
    inside = _NEGATED.sub(r"\1[^/", single)  # as in git: no bracket matches `/`
    return _TO_NEXT_STAR.sub(r"(?>[^/]*?\1)", inside)


@functools.lru_cache(maxsize=8192)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def rules(patterns: Sequence[str], *, fold: bool = False) -> list[Glob]:
    """Compile patterns, in their order. Raises UsageError."""
    return [rule(pattern, fold=fold) for pattern in patterns]


def covers(patterns: Sequence[str], path: str, *, fold: bool = False) -> bool:
    """Whether the patterns match `path`; the last match decides."""
    for glob in reversed(rules(patterns, fold=fold)):
        if path.startswith(glob.prefix) and _compiled(glob.source).search(path):
            return glob.include
    return False


def select(patterns: Sequence[str], files: Sequence[str], *, fold: bool = False) -> list[str]:
    """The sorted `files` that the patterns match."""
    chosen: set[str] = set()
    for glob in rules(patterns, fold=fold):
        if glob.include:
            chosen.update(_matching(glob, files))
        else:
            chosen.difference_update(_matching(glob, sorted(chosen)))
    return sorted(chosen)


def may_meet(
    left: Sequence[str], right: Sequence[str], files: Sequence[str], *, fold: bool = False
) -> str | None:
    """What two lists of patterns can both match: one of the sorted `files`, or a name in one list
    that the other matches. None if there is nothing."""
    return overlap(left, select(left, files, fold=fold), right, fold=fold)


def overlap(
    left: Sequence[str], covered: Sequence[str], right: Sequence[str], *, fold: bool = False
) -> str | None:
    """Like `may_meet`, with `covered` computed once as `select(left, files)`."""
    for pattern, probe in [*named(left, fold=fold), *named(right, fold=fold)]:
        if covers(left, probe, fold=fold) and covers(right, probe, fold=fold):
            return pattern
    same = _positive_patterns(left) & _positive_patterns(right)
    if same:
        return min(same)
    for glob in rules(right, fold=fold):
        if glob.include:
            shared = (x for x in _matching(glob, covered) if covers(right, x, fold=fold))
            first = next(shared, None)
            if first is not None:
                return first
    return None


def _matching(glob: Glob, files: Sequence[str]) -> Iterator[str]:
    begin = bisect_left(files, glob.prefix) if glob.prefix else 0
    end = bisect_left(files, glob.prefix + _LAST) if glob.prefix else len(files)
    search = _compiled(glob.source).search
    return (files[index] for index in range(begin, end) if search(files[index]))


def named(patterns: Sequence[str], *, fold: bool = False) -> Iterator[tuple[str, str]]:
    """Paths that patterns name without wildcards; they need not exist yet. Yields the pattern with
    the path, and with a path below it if it may be a folder."""
    for pattern in patterns:
        glob = rule(pattern, fold=fold)
        place = glob.path if glob.path is not None else glob.name
        if glob.include and place is not None:
            if not glob.only_below:
                yield pattern, place
            yield pattern, f"{place}/{PROBE}"


def _positive_patterns(patterns: Sequence[str]) -> set[str]:
    """The patterns without those that a later `!` pattern removes."""
    stated: dict[str, None] = {}
    for pattern in patterns:
        if pattern.startswith("!"):
            stated.pop(pattern[1:], None)
        else:
            stated[pattern] = None
    return set(stated)
