"""Parses a patch before git sees it: which files it changes, and how.

Only what git writes for `patch.take_patch` is accepted. Everything else is refused, so git sees
nothing that was not checked here. Parsing takes linear time.
"""

import io
import os
import re
from typing import NamedTuple

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.file_names import parents

LONGEST = 10_000  # bytes of a header, or of a name
DEEPEST = 500  # parts of a path
LARGEST = 2**30  # total bytes that the binary parts of a patch may unpack to
LINK = "120000"
HINT = "Nothing was changed. Check who made it, and ask for a commit instead."

_REGULAR = ("100644", "100755")
_FACT = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|similarity index|rename from|rename to"
    rb"|index|---|\+\+\+) (.*)",
    re.DOTALL,
)
_INDEX = re.compile(rb"[0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: ([0-7]{6}))?")
_HUNK = re.compile(rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@(?: .*)?", re.DOTALL)
_BINARY = re.compile(rb"(literal|delta) (\d{1,12})")
_CODED = re.compile(rb"[A-Za-z](?:[!-~]{5}){1,13}")
_QUOTED = re.compile(rb'"((?:[^"\\\x00-\x1f\x7f]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"')
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))
_MUST_BE_QUOTED = re.compile(rb'["\\\x00-\x1f\x7f]')
# Characters that a file system may ignore in a name; they give `.git` many spellings.
_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_GIT = re.compile(r"\.git|git~[0-9]+")


class UnsafePatchError(RefusedError):
    """The patch is unsafe or malformed; nothing was changed."""


class Piece(NamedTuple):
    """The change to one file. A path is empty if there is no file, a mode if the patch does not
    name it. `target` is the target of a link that it writes."""

    old: str
    new: str
    old_mode: str
    new_mode: str
    target: str | None = None

    @property
    def is_rename(self) -> bool:
        """Whether a file moves to another path."""
        return bool(self.old and self.new and self.old != self.new)


def read_patch(content: bytes) -> list[Piece]:
    """The files that a patch changes. Raises UnsafePatchError for anything that git would not have
    written, names outside the worktree, submodules, and files below a link that the patch
    creates."""
    lines = _Lines(content)
    pieces: list[Piece] = []
    written: set[str] = set()
    emptied: set[str] = set()
    while lines.head is not None:
        piece = _piece(lines)
        pieces.append(piece)
        _once(lines, written, piece.new)
        _once(lines, emptied, piece.old if piece.old != piece.new else "")
    links = {piece.new for piece in pieces if piece.new_mode == LINK}
    for path in written:
        if not links.isdisjoint(parents(path)):
            raise _unsafe(f"it creates a link and writes {path!r} through it")
    return pieces


def is_git_folder(part: str) -> bool:
    """Whether a path component names a git folder, in any spelling that some system accepts."""
    name = part.translate(_UNSEEN).partition(":")[0].rstrip(" .").lower()
    return bool(_GIT.fullmatch(name))


def _piece(lines: "_Lines") -> Piece:
    header = lines.take()
    if not header.startswith(b"diff --git ") or len(header) > LONGEST:
        raise lines.wrong("is not a `diff --git` header")
    facts = _facts(lines)
    old, new = _paths(lines, header.removeprefix(b"diff --git "), facts)
    for path in {old, new}:
        _check_name(lines, path)
    old_mode, new_mode = _modes(lines, facts)
    target = _body(lines, facts, old_mode, new_mode)
    if b"new file mode" in facts:
        old = ""
    if b"deleted file mode" in facts:
        new = ""
    return Piece(old, new, old_mode, new_mode, target)


def _facts(lines: "_Lines") -> dict[bytes, bytes]:
    """The lines between header and content, by their first words."""
    facts: dict[bytes, bytes] = {}
    while (line := lines.head) is not None and (fact := _FACT.fullmatch(line)):
        if fact[1] in facts or len(line) > LONGEST:
            raise lines.wrong("repeats a header, or is too long")
        facts[fact[1]] = fact[2]
        lines.take()
    if (lines.head or b"").startswith(b"copy "):
        raise lines.wrong("copies a file")
    if (b"rename from" in facts) != (b"rename to" in facts) or (
        (b"rename from" in facts) != (facts.get(b"similarity index") == b"100%")
    ):
        raise lines.wrong("follows a rename that is incomplete or has changes")
    return facts


def _modes(lines: "_Lines", facts: dict[bytes, bytes]) -> tuple[str, str]:
    """The modes before and after, empty if the patch does not name them."""
    index = _INDEX.fullmatch(facts.get(b"index", b"0000..0000"))
    kinds = (b"new file mode", b"deleted file mode", b"rename from")
    both = (b"old mode" in facts, b"new mode" in facts)
    if index is None or sum(kind in facts for kind in kinds) > 1 or both[0] != both[1]:
        raise lines.wrong("follows contradictory file modes")
    kept = (index[1] or b"").decode()
    modes = (facts.get(key, b"") for key in (b"old mode", b"new mode", *kinds[:2]))
    old, new, come, gone = (mode.decode("ascii", "replace") for mode in modes)
    if sum(map(bool, (kept, old, come, gone))) > 1:
        raise lines.wrong("follows contradictory file modes")
    if not {old, new} <= {"", *_REGULAR} or not {kept, come, gone} <= {"", LINK, *_REGULAR}:
        raise lines.wrong("follows a mode that no file in a worktree has")
    return kept or old or gone, kept or new or come


def _body(lines: "_Lines", facts: dict[bytes, bytes], old_mode: str, new_mode: str) -> str | None:
    """Skip the content; returns the target of a link that is written."""
    head = lines.head or b""
    has_hunks, is_binary = head.startswith(b"@@ "), head == b"GIT binary patch"
    if has_hunks != (b"---" in facts) or has_hunks != (b"+++" in facts):
        raise lines.wrong("has file names without content, or content without file names")
    if (has_hunks or is_binary) and (
        b"index" not in facts or b"rename from" in facts or not (old_mode or new_mode)
    ):
        raise lines.wrong("is content of a file without a complete header")
    target = None
    if is_binary:
        _pass_binary(lines)
    elif has_hunks:
        target = _pass_hunks(lines, new_mode == LINK)
    elif not (old_mode or new_mode or b"rename from" in facts):
        raise lines.wrong("follows a file without a change")
    if new_mode == LINK and target is None:
        raise lines.wrong("follows a link without a target")
    if target and old_mode and "\n" in target and "/" in target:  # it may have more lines
        raise lines.wrong("follows a link without a target")
    if lines.head is not None and not lines.head.startswith(b"diff --git "):
        raise lines.wrong("is not a line that git writes for uncommitted work")
    return target


def _pass_hunks(lines: "_Lines", is_link: bool) -> str | None:
    """Skip lines of text; for a link, returns the text after the change."""
    after: list[bytes] = []
    while (head := lines.head) is not None and head.startswith(b"@@ "):
        header = _HUNK.fullmatch(lines.take())
        if header is None:
            raise lines.wrong("follows a change without line numbers")
        left = [int(count or b"1") for count in header.groups()]
        is_new = False
        while left != [0, 0] or (lines.head or b"").startswith(b"\\ "):
            line = lines.take()
            sign = line[:1] or b" "
            if sign == b"\\" and is_new:
                after.append(after.pop()[:-1])
            is_new = is_link and sign in b" +"
            if is_new:
                after.append(line[1:] + b"\n")
            left[0] -= sign in b" -"
            left[1] -= sign in b" +"
            if sign not in b" +-\\" or min(left) < 0:
                raise lines.wrong("follows a line that belongs to no change")
    return os.fsdecode(b"".join(after)) if after else None


def _pass_binary(lines: "_Lines") -> None:
    lines.take()
    for _ in range(2):  # the new lines, and the old ones
        header = _BINARY.fullmatch(lines.head or b"")
        if header is None:
            break
        lines.take()
        lines.unpacked += int(header[2])
        if lines.unpacked > LARGEST:
            raise lines.wrong("makes the unpacked patch too large")
        while line := lines.take():
            if not _CODED.fullmatch(line):
                raise lines.wrong("is not a line of binary content")


def _paths(lines: "_Lines", header: bytes, facts: dict[bytes, bytes]) -> tuple[str, str]:
    """The paths before and after. All lines that name them must agree."""
    if b"rename from" in facts:
        old, new = (_name(lines, facts[key], b"") for key in (b"rename from", b"rename to"))
    elif b"---" in facts and b"+++" in facts:
        old = new = _of_both(lines, facts)
    else:
        old = new = _of_header(lines, header)
    if _QUOTED.match(header) or header.endswith(b'"'):
        agrees = _quoted_pair(lines, header) == (old, new)
    else:
        agrees = header == b"a/%s b/%s" % (os.fsencode(old), os.fsencode(new))
    if not agrees:
        raise lines.wrong("follows contradictory file names")
    return old, new


def _of_both(lines: "_Lines", facts: dict[bytes, bytes]) -> str:
    """The path in `---` and `+++`."""
    names: set[str] = set()
    for key, prefix, absent in (
        (b"---", b"a/", b"new file mode"),
        (b"+++", b"b/", b"deleted file mode"),
    ):
        raw = facts[key]
        if (raw == b"/dev/null") != (absent in facts):
            raise lines.wrong("follows a file that is both present and absent")
        if raw != b"/dev/null":
            names.add(_name(lines, raw.removesuffix(b"\t"), prefix))
    if len(names) != 1:
        raise lines.wrong("follows contradictory file names")
    return names.pop()


def _of_header(lines: "_Lines", header: bytes) -> str:
    """The path, if only the header names it: `a/NAME b/NAME`."""
    if _QUOTED.match(header) or header.endswith(b'"'):
        return _quoted_pair(lines, header)[0]
    return _name(lines, header[2 : len(header) // 2], b"")


def _quoted_pair(lines: "_Lines", header: bytes) -> tuple[str, str]:
    """The two names of a header of which at least one is quoted."""
    first = _QUOTED.match(header)
    at = first.end() if first else header.find(b' "')
    if header[at : at + 1] != b" ":
        raise lines.wrong("follows a header without two names")
    return _name(lines, header[:at], b"a/"), _name(lines, header[at + 1 :], b"b/")


def _name(lines: "_Lines", raw: bytes, prefix: bytes) -> str:
    """A name as git writes it, without its prefix."""
    quoted = _QUOTED.fullmatch(raw)
    if quoted:
        raw = _ESCAPE.sub(_unescaped, quoted[1])
    elif _MUST_BE_QUOTED.search(raw):
        raise lines.wrong("follows a name that git would have quoted")
    if not raw.startswith(prefix):
        raise lines.wrong(f"follows a name that does not begin with {prefix.decode()}")
    return os.fsdecode(raw.removeprefix(prefix))


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    if len(code) == 3:
        return bytes([int(code, 8)])
    return bytes([_ESCAPES.get(code[0], code[0])])


def _check_name(lines: "_Lines", path: str) -> None:
    """Refuse names outside of the worktree or in a git folder."""
    parts = path.split("/")
    if "" in parts or "\0" in path or len(parts) > DEEPEST or len(path) > LONGEST:
        raise lines.wrong(f"follows {path[:200]!r}, which is not a path in a worktree")
    for part in path.replace("\\", "/").split("/"):
        if part in (".", "..") or is_git_folder(part):
            raise lines.wrong(f"follows {path[:200]!r}, which is not a path in a worktree")


def _once(lines: "_Lines", paths: set[str], path: str) -> None:
    if path and path in paths:
        raise lines.wrong(f"follows {path[:200]!r}, which the patch changes twice")
    paths.add(path)


class _Lines:
    """An iterator over the lines of a patch."""

    def __init__(self, content: bytes) -> None:
        self._rest = io.BytesIO(content)
        self._number = 0
        self.unpacked = 0
        self.head: bytes | None = b""  # the next line, without its end
        self.take()

    def take(self) -> bytes:
        """Return the next line and advance. Raises UnsafePatchError at the end."""
        line = self.head
        if line is None:
            raise _unsafe("it ends in the middle of a file")
        following = self._rest.readline()
        self._number += 1
        if following and not following.endswith(b"\n"):
            raise _unsafe("its last line is incomplete")
        self.head = following[:-1] if following else None
        return line

    def wrong(self, what: str) -> UnsafePatchError:
        """The error for the current line."""
        line = "the end" if self.head is None else f"line {self._number}"
        return _unsafe(f"{line} {what}")


def _unsafe(why: str) -> UnsafePatchError:
    return UnsafePatchError(f"The patch has an unexpected form: {why}.", hint=HINT)
