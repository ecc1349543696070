"""Converts a pattern typed in a folder to a pattern relative to the repository's root."""

import re
from collections.abc import Iterable

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line

LONGEST = 1_000  # characters of one pattern
MOST = 1_000  # patterns in one list
DEEPEST = 4  # `**` in one pattern: each multiplies the number of possible matches

EVERYTHING = "*"
_TWICE = ("**", "**")  # the same as one
_WILD = re.compile(r"\\.|[*?\[]")  # wildcards, and escapes to skip
_TO_ESCAPE = re.compile(r"[\\*?\[\]]")
_ESCAPED = re.compile(r"\\(.)")
# On other brackets (classes, escapes) git, pathspec and pathspec's versions disagree.
_BRACKET = re.compile(r"\[[!^]?(?:[^\W_]-[^\W_]|[^\W_]|[_.+@=, ])+\]")
_LOOSE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:/|$)")  # a backslash with nothing after it in its name
_RANGE = re.compile(r"([^\W_])-([^\W_])")


def spelled(word: str, folder: str = "") -> str:
    """A pattern typed in `folder` (relative to the root), as a pattern for the root.

    A path begins with `/`; a bare name matches in every folder. Raises UsageError.
    """
    text = _checked(word)
    negation = "!" if text.startswith("!") else ""
    parts = re.sub("/{2,}", "/", text.removeprefix("!")).split("/")
    here = [escaped(part) for part in folder.split("/") if part]
    is_rooted = len(parts) > 1 and parts[0] in ("", ".", "..")
    while parts and parts[0] in (".", ".."):
        if parts.pop(0) == ".." and not _go_up(here):
            raise UsageError(
                f"{_shown(word)} is outside this repository.",
                hint="Name a path inside it, relative to the current folder.",
            )
        is_rooted = True
    if is_rooted and len(parts) > 1 and parts[0] == "":
        del parts[0]
    if "." in parts or ".." in parts:
        raise UsageError(
            f"{_shown(word)} contains `.` or `..` after the first name.",
            hint="Name the path without them.",
        )
    return negation + _from_root(here, parts or [""], is_rooted)


def spelled_all(words: Iterable[str], folder: str = "") -> tuple[str, ...]:
    """A list of patterns without duplicates. Raises UsageError."""
    patterns = [spelled(word, folder) for word in words]
    if len(patterns) > MOST:
        raise UsageError(
            f"{len(patterns)} patterns are too many; the limit is {MOST}.",
            hint="Name their folders instead: src/parser/",
        )
    # Of duplicates keep the last one, because the last match wins.
    kept = tuple(reversed(dict.fromkeys(reversed(patterns))))
    if kept and all(pattern.startswith("!") for pattern in kept):
        raise UsageError(
            "All patterns are exceptions (`!`), so nothing is selected.",
            hint="First name what they are excluded from: src/ '!src/gen.py'",
        )
    return kept


def escaped(text: str) -> str:
    """A name as a pattern that matches only that name."""
    safe = _TO_ESCAPE.sub(r"\\\g<0>", text)
    return f"{safe[:-1]}\\ " if safe.endswith(" ") else safe


def unescaped(pattern: str) -> str:
    """The reverse of `escaped`."""
    return _ESCAPED.sub(r"\1", pattern)


def is_plain(pattern: str) -> bool:
    """Whether a pattern, or part of one, has no wildcards."""
    return all(wildcard[0].startswith("\\") for wildcard in _WILD.finditer(pattern))


def literal_start(pattern: str) -> str:
    """The text of a pattern, or part of one, before its first wildcard."""
    wild = (x.start() for x in _WILD.finditer(pattern) if not x[0].startswith("\\"))
    return unescaped(pattern[: next(wild, len(pattern))])


def _checked(word: str) -> str:
    """The text of a pattern, without insignificant spaces. Raises UsageError."""
    stripped = word.rstrip(" ")
    text = f"{stripped} " if stripped != word and stripped.endswith("\\") else stripped
    if not text.removeprefix("!").strip():
        raise UsageError("A pattern is empty.", hint="Name files and folders: src/parser/ '*.sql'")
    if text.removeprefix("!") == "/":
        raise UsageError(f"{_shown(word)} matches nothing.", hint="Use `*` for everything here.")
    if len(text) > LONGEST:
        raise UsageError(
            f"A pattern has {len(text)} characters; the limit is {LONGEST}.",
            hint="Use a wildcard, or name the folder.",
        )
    if not text.isprintable():
        raise UsageError(
            f"{_shown(word)} has characters that cannot be printed.",
            hint="Use `?` for any one character.",
        )
    if text.startswith("#"):
        raise UsageError(f"{_shown(word)} is a comment.", hint=f"Write '\\{one_line(text, 40)}'.")
    _check_wildcards(word, text)
    return text


def _check_wildcards(word: str, text: str) -> None:
    if re.split("/+", text.removeprefix("!")).count("**") > DEEPEST:
        raise UsageError(
            f"{_shown(word)} has `**` more than {DEEPEST} times.",
            hint="Name a folder between them, or use several patterns.",
        )
    if _LOOSE.search(text):
        raise UsageError(
            f"{_shown(word)} has a backslash before a `/` or at its end.",
            hint="Write `\\\\` for a backslash.",
        )
    for wildcard in _WILD.finditer(text):
        if wildcard[0] == "[" and not _is_understood(_BRACKET.match(text, wildcard.start())):
            raise UsageError(
                f"{_shown(word)} has an invalid bracket.",
                hint="Ranges look like [a-z0-9] or [!abc]; write `\\[` for a bracket.",
            )


def _is_understood(bracket: re.Match[str] | None) -> bool:
    return bracket is not None and all(first <= last for first, last in _RANGE.findall(bracket[0]))


def _go_up(here: list[str]) -> bool:
    if not here:
        return False
    here.pop()
    return True


def _from_root(here: list[str], parts: list[str], is_rooted: bool) -> str:
    """The pattern `parts`, relative to the folder `here`."""
    only_below = parts[-1:] == [""]
    names = [x for x, after in zip(parts, [*parts[1:], ""], strict=True) if (x, after) != _TWICE]
    names = names[:-1] if only_below else names
    if names[-1:] == ["**"] and only_below:
        names = [*names[:-1], "*"]  # "in any folder below" equals "directly below"
    elif names[-1:] == ["**"] or (names == ["*"] and not only_below and not is_rooted):
        names, only_below, is_rooted = names[:-1], True, True
    end = "/" if only_below else ""
    if is_rooted or len(names) > 1:
        if not here and len(names) == 2 and names[0] == "**":
            return _anywhere(names[1] + end)
        rooted = "/".join([*here, *names])
        return f"/{rooted}{end}" if rooted else EVERYTHING
    if here:
        return f"/{'/'.join([*here, '**', *names])}{end}"
    return _anywhere(names[0] + end)


def _anywhere(name: str) -> str:
    """A name in any folder. Some versions of pathspec strip a leading space."""
    return f"**/{name}" if name.startswith((" ", "!", "#")) else name


def _shown(word: str) -> str:
    return repr(one_line(word.encode("utf-8", "replace").decode("utf-8"), 60))
