"""Patterns with the meaning that `.gitignore` gives them; pathspec's only door, opened late.

They are relative to the repository's root, as `spelling.py` spells them. Of several the last match
wins, also below an excluded folder: who writes `src/` and `!src/gen.py` means it.
"""

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import is_plain, literal_start, unescaped
from ghp_agents.core.ids import one_line

_LAST = "\U0010ffff"  # after all that can follow a prefix
PROBE = "\x00"  # a file that nobody has
# In an expression of pathspec's: several stars that are one, a negated bracket, and a star with
# what comes before the next star of the same name.
_STARS = re.compile(r"(?:\[\^/\]\*){2,}")
_NEGATED = re.compile(r"(?<!\\)((?:\\\\)*)\[\^(?!/\])")
_TO_NEXT_STAR = re.compile(
    r"\[\^/\]\*((?:\\.|\[(?:\\.|[^\]\\])+\](?!\*)|[^\\/()\[\]|*+?{}^$.])+)(?=\[\^/\]\*)"
)


class Glob(NamedTuple):
    """One pattern, ready to match by `re.compile(source).search(path)`.

    Where a pattern has no wildcards, `path` is the one place that it names, or `name` the name
    that it gives to places in any folder; then a dictionary can do without the expression.
    """

    source: str  # one of Python's regular expressions, without named groups
    include: bool  # False: the pattern began with `!`
    prefix: str  # all that it matches begins with this
    path: str | None = None
    name: str | None = None
    only_below: bool = False  # it ended with `/`: what is in the folder, but no file of that name


@functools.lru_cache(maxsize=8192)
def rule(pattern: str, *, fold: bool = False) -> Glob:
    """What a pattern means; with `fold` upper and lower case are one. Raises UsageError."""
    from pathspec import GitIgnoreSpec

    try:
        (made,) = GitIgnoreSpec.from_lines([pattern]).patterns
        regex = getattr(made, "regex", None)
    except (ValueError, re.error) as error:
        regex, why = None, str(error)
    else:
        why = "it matches nothing"
    if regex is None or made.include is None:
        raise UsageError(
            f"{one_line(pattern, 60)!r} is not a pattern: {one_line(why, 100)}.",
            hint="Write it as in a .gitignore file: src/parser/ or '*.sql'.",
        )
    source = _portable(regex.pattern, fold=fold)
    body = pattern.removeprefix("!")
    only_below, place = body.endswith("/"), body.rstrip("/")
    is_rooted = "/" in place
    plain = unescaped(place.removeprefix("/")) if is_plain(place) else None
    return Glob(
        source=source,
        include=made.include,
        prefix=literal_start(place.removeprefix("/")) if is_rooted and not fold else "",
        path=plain if is_rooted else None,
        name=None if is_rooted else plain,
        only_below=only_below,
    )


def _portable(source: str, *, fold: bool) -> str:
    """An expression that means the same wherever it is compiled: names may hold line ends, two
    expressions may become one, and the versions of pathspec differ in what they add."""
    unnamed = source.replace("(?P<ps_d>/)", "/")  # no name can hold this: it has a `/`
    ended = _quick(re.sub(r"\$(\)?)\Z", r"\\Z\1", unnamed))
    ended = ended.replace(r"(?:/.*)?\Z", r"(?:/|\Z)")  # how older versions say "and all below"
    return f"(?{'si' if fold else 's'}:{ended})"


def _quick(source: str) -> str:
    """An expression with the same meaning that tries no star in vain: where a name has several,
    all but the last may take the first place that fits. Else ten stars take seconds."""
    one = _STARS.sub("[^/]*", source)
    inside = _NEGATED.sub(r"\1[^/", one)  # as git has it: no bracket is a `/`
    return _TO_NEXT_STAR.sub(r"(?>[^/]*?\1)", inside)


@functools.lru_cache(maxsize=8192)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def rules(patterns: Sequence[str], *, fold: bool = False) -> list[Glob]:
    """What patterns mean, in their order. Raises UsageError."""
    return [rule(pattern, fold=fold) for pattern in patterns]


def covers(patterns: Sequence[str], path: str, *, fold: bool = False) -> bool:
    """Whether `path` is among what the patterns name: the last one that matches says."""
    for each in reversed(rules(patterns, fold=fold)):
        if path.startswith(each.prefix) and _compiled(each.source).search(path):
            return each.include
    return False


def select(patterns: Sequence[str], files: Sequence[str], *, fold: bool = False) -> list[str]:
    """Those of the sorted `files` that the patterns cover."""
    chosen: set[str] = set()
    for each in rules(patterns, fold=fold):
        if each.include:
            chosen.update(_matching(each, files))
        else:
            chosen.difference_update(_matching(each, sorted(chosen)))
    return sorted(chosen)


def may_meet(
    one: Sequence[str], other: Sequence[str], files: Sequence[str], *, fold: bool = False
) -> str | None:
    """What two lists of patterns both mean: one of the sorted `files`, or a name of the one that
    the other covers; None if there is nothing."""
    return overlap(one, select(one, files, fold=fold), other, fold=fold)


def overlap(
    one: Sequence[str], covered: Sequence[str], other: Sequence[str], *, fold: bool = False
) -> str | None:
    """Like `may_meet`, for who has `select(one, files)` already and compares with many."""
    for pattern, probe in [*named(one, fold=fold), *named(other, fold=fold)]:
        if covers(one, probe, fold=fold) and covers(other, probe, fold=fold):
            return pattern
    same = _stated(one) & _stated(other)
    if same:
        return min(same)
    for each in rules(other, fold=fold):
        if each.include:
            found = (x for x in _matching(each, covered) if covers(other, x, fold=fold))
            first = next(found, None)
            if first is not None:
                return first
    return None


def _matching(each: Glob, files: Sequence[str]) -> Iterator[str]:
    begin = bisect_left(files, each.prefix) if each.prefix else 0
    end = bisect_left(files, each.prefix + _LAST) if each.prefix else len(files)
    search = _compiled(each.source).search
    return (files[index] for index in range(begin, end) if search(files[index]))


def named(patterns: Sequence[str], *, fold: bool = False) -> Iterator[tuple[str, str]]:
    """The places that patterns name without a wildcard, which need not be there (yet): each
    pattern with the path, and with one in it if it is or may be a folder."""
    for pattern in patterns:
        each = rule(pattern, fold=fold)
        place = each.path if each.path is not None else each.name
        if each.include and place is not None:
            if not each.only_below:
                yield pattern, place
            yield pattern, f"{place}/{PROBE}"


def _stated(patterns: Sequence[str]) -> set[str]:
    """The patterns that name something and are not taken back."""
    stated: dict[str, None] = {}
    for pattern in patterns:
        if pattern.startswith("!"):
            stated.pop(pattern[1:], None)
        else:
            stated[pattern] = None
    return set(stated)
