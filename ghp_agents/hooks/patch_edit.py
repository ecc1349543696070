"""Patches in the form of `apply_patch`: their sections, and the content of a file after one.

    *** Begin Patch
    *** Update File: a.py
    *** Move to: b.py
    @@ def f():
     context
    -old
    +new
    *** End of File
    *** End Patch

Context is found exactly, else without trailing white space, else without white space around it,
else with typographic characters taken for plain ones: in this order, as Codex does.
"""

from ghp_agents.hooks.event import UnknownEditError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROGRAM = "apply_patch"
BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
ADD, DELETE, UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
MOVE = "*** Move to: "
LINES = 200_000  # of a patch
FILE_LINES = 1_000_000
WORK = 1_000_000  # comparisons of lines in one file
_DASHES = "‐‑‒–—―−"  # noqa: RUF001
_SPACES = "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_PLAIN = {
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, "‘’‚‛"), "'"),  # noqa: RUF001
    **dict.fromkeys(map(ord, "“”„‟"), '"'),
    **dict.fromkeys(map(ord, _SPACES), " "),
}


class PatchSection:
    """What a patch does with one file."""

    __slots__ = ("kind", "lines", "moved_to", "name")

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind  # ADD, DELETE or UPDATE
        self.name = name
        self.moved_to = ""
        self.lines: list[str] = []  # with their first character, which tells what they are


class Chunk:
    """Lines that replace others, after a line that tells where."""

    __slots__ = ("anchor", "at_end", "new", "old")

    def __init__(self, anchor: str = "") -> None:
        self.anchor = anchor
        self.old: list[str] = []
        self.new: list[str] = []
        self.at_end = False


def patched_content(
    sections: "Sequence[PatchSection]",
    path: str,
    before: bytes | None,
    read: "Callable[[str], bytes | None]",
    *,
    is_exact: bool = False,
) -> bytes | None:
    """The file at `path` after the sections that name it; None if they delete it.

    `read` returns the content of a file that is moved to `path`. With `is_exact`, lines that are
    only similar are not found. Raises UnknownEditError.
    """
    if not sections:
        raise UnknownEditError("the patch does not name the file")
    for section in sections:
        if section.name == path:
            after = _after(section, before, is_exact)
            before = None if section.moved_to not in ("", path) else after
        else:
            before = _after(section, read(section.name), is_exact)
    return before


def sections(patch: str) -> "list[PatchSection]":
    """The sections of a patch, which may be in a shell command. Raises UnknownEditError."""
    if patch.count("\n") > LINES:
        raise UnknownEditError("the patch is too long")
    sections: list[PatchSection] = []
    for line in _body([line.removesuffix("\r") for line in patch.split("\n")]):
        bare = line.strip()
        kind = next((mark for mark in (ADD, DELETE, UPDATE) if bare.startswith(mark)), "")
        # In an update, a line with a space before the mark is one of the file.
        if kind and (line.startswith("*") or not sections or sections[-1].kind != UPDATE):
            sections.append(PatchSection(kind, bare[len(kind) :].strip()))
        elif not sections:
            if bare:
                raise UnknownEditError("the patch begins with no file")
        elif bare.startswith(MOVE) and not sections[-1].lines and sections[-1].kind == UPDATE:
            sections[-1].moved_to = bare[len(MOVE) :].strip()
        else:
            sections[-1].lines.append(line)
    return sections


def from_shell(line: str) -> "tuple[str, str] | None":
    """The folder and the patch of a shell line that does nothing but apply a patch:

        [cd FOLDER &&] apply_patch <<'WORD'
        …
        WORD

    None for all other lines. The word is quoted, so the shell expands nothing in the patch.
    """
    head, _, body = line.strip("\n").partition("\n")
    before, both, after = head.rpartition("&&")
    program, _, mark = (part.strip(" ") for part in after.partition("<<"))
    lines, word = body.split("\n"), mark[1:-1]
    is_quoted = word.isidentifier() and mark in (f"'{word}'", f'"{word}"')
    if program != PROGRAM or not is_quoted or word not in lines[-1:] or word in lines[:-1]:
        return None
    folder = _changed_to(before) if both else ""
    return None if folder is None or "\0" in body else (folder, "\n".join(lines[:-1]))


def _changed_to(line: str) -> str | None:
    """The folder of `cd FOLDER`; None for all other lines."""
    from ghp_agents.cards import command_rules

    try:
        commands = command_rules.commands(line)
    except command_rules.UnclearError:
        return None
    if len(commands) != 1 or commands[0][0] != "cd" or len(commands[0]) != 2:
        return None
    folder = commands[0][1]
    return None if isinstance(folder, command_rules.Expanded) or folder[:1] == "-" else folder


def _body(lines: "list[str]") -> "list[str]":
    """The lines between the beginning and the end. Raises UnknownEditError."""
    start = next((i for i, line in enumerate(lines) if line.strip().endswith(BEGIN)), None)
    if start is None:
        raise UnknownEditError("the patch has no beginning")
    ends = [i for i in range(start + 1, len(lines)) if lines[i].strip().rstrip("'\"") == END]
    if not ends:
        raise UnknownEditError("the patch has no end")
    return lines[start + 1 : next((i for i in ends if lines[i].startswith(END)), ends[-1])]


def _after(section: PatchSection, before: bytes | None, is_exact: bool) -> bytes | None:
    if section.kind == ADD:
        return _added(section)
    if before is None:
        raise UnknownEditError("there is no file")
    if section.kind == DELETE:
        return None
    return _updated(before, list(_chunks(section.lines)), is_exact)


def _added(section: PatchSection) -> bytes:
    lines = [line for line in section.lines if line]
    if any(not line.startswith("+") for line in lines):
        raise UnknownEditError("a new file has a line without +")
    return _encoded("".join(line[1:] + "\n" for line in lines))


def _chunks(lines: "Sequence[str]") -> "Iterator[Chunk]":
    """The chunks of an update. Raises UnknownEditError for what is none."""
    chunk: Chunk | None = None
    for line in lines:
        if line.rstrip() == "@@" or line.startswith("@@ "):
            if chunk is not None:
                yield _checked(chunk)
            chunk = Chunk(line[3:])
        elif line.strip() == END_OF_FILE and chunk is not None:
            chunk.at_end = True
        elif line == "" and (chunk is None or chunk.at_end):
            continue
        else:
            chunk = Chunk() if chunk is None else chunk
            _add(chunk, line)
    if chunk is None:
        raise UnknownEditError("the patch changes nothing in the file")
    yield _checked(chunk)


def _add(chunk: Chunk, line: str) -> None:
    mark, text = line[:1], line[1:]
    if chunk.at_end or mark not in ("", " ", "+", "-"):
        raise UnknownEditError("a line of the patch has no mark")
    if mark != "+":
        chunk.old.append(text)
    if mark != "-":
        chunk.new.append(text)


def _checked(chunk: Chunk) -> Chunk:
    if not chunk.old and not chunk.new:
        raise UnknownEditError("a part of the patch is empty")
    return chunk


def _updated(before: bytes, chunks: "Sequence[Chunk]", is_exact: bool) -> bytes:
    """The file with all chunks applied. Lines keep their endings; new ones get the file's."""
    if before.count(b"\n") > FILE_LINES:
        raise UnknownEditError("the file has too many lines")
    pieces = before.decode("utf-8", "surrogateescape").split("\n")
    ending = "\r\n" if len(pieces) > 1 and pieces[0].endswith("\r") else "\n"
    last = pieces.pop()
    whole = [piece.removesuffix("\r") for piece in pieces] + [last] * bool(last)
    lines = PatchLines(whole, _LOOSER[:1] if is_exact else _LOOSER)
    if last:
        pieces.append(last + ending[:-1])
    result: list[str] = []
    done = 0
    for start, length, new in sorted(_replacements(lines, chunks), key=lambda x: x[0]):
        if start < done:
            raise UnknownEditError("parts of the patch overlap")
        result += [f"{piece}\n" for piece in pieces[done:start]]
        result += [line + ending for line in new]
        done = start + length
    result += [f"{piece}\n" for piece in pieces[done:]]
    return _encoded("".join(result))


def _replacements(
    lines: "PatchLines", chunks: "Sequence[Chunk]"
) -> "Iterator[tuple[int, int, list[str]]]":
    """For each chunk the first line that it replaces, how many, and the new ones."""
    at = 0
    for chunk in chunks:
        if chunk.anchor:
            at = lines.index([chunk.anchor], at) + 1
        if not chunk.old:
            end = len(lines.exact)
            yield (end - 1 if end and lines.exact[-1] == "" else end), 0, chunk.new
            continue
        old, new = chunk.old, chunk.new
        start = lines.find(old, at, chunk.at_end)
        if start is None and old[-1] == "":  # a line for the final newline
            old, new = old[:-1], new[:-1] if new and new[-1] == "" else new
            start = lines.find(old, at, chunk.at_end)
        if start is None:
            raise UnknownEditError("lines of the patch were not found")
        yield start, len(old), new
        at = start + len(old)


class PatchLines:
    """The lines of a file, and how they look to the less and less strict comparisons."""

    def __init__(self, lines: "list[str]", looser: "Sequence[Callable[[str], str]]") -> None:
        self.exact = lines
        self._looser = looser
        self._work = 0
        self._loose: dict[int, list[str]] = {0: lines}

    def index(self, wanted: "Sequence[str]", start: int) -> int:
        """Where `wanted` is, at `start` or later. Raises UnknownEditError."""
        position = self.find(wanted, start, at_end=False)
        if position is None:
            raise UnknownEditError("lines of the patch were not found")
        return position

    def find(self, wanted: "Sequence[str]", start: int, at_end: bool) -> int | None:
        """Where `wanted` is, at `start` or later, or at the end of the file."""
        if not wanted:
            return start
        if at_end:
            start = max(len(self.exact) - len(wanted), 0)
        for level, loosen in enumerate(self._looser):
            if level not in self._loose:
                self._loose[level] = [loosen(line) for line in self.exact]
            position = self._find(self._loose[level], [loosen(line) for line in wanted], start)
            if position is not None:
                return position
        return None

    def _find(self, lines: "list[str]", wanted: "list[str]", start: int) -> int | None:
        self._spend(len(wanted) + (len(lines) - start) // 16)
        while True:
            try:
                start = lines.index(wanted[0], start)
            except ValueError:
                return None
            self._spend(len(wanted))
            if lines[start : start + len(wanted)] == wanted:
                return start
            start += 1

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > WORK:
            raise UnknownEditError("the patch takes too long")


def _plain(line: str) -> str:
    return line.strip().translate(_PLAIN)


_LOOSER: "Sequence[Callable[[str], str]]" = (str, str.rstrip, str.strip, _plain)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, from the patch
        return text.encode("utf-8", "surrogatepass")
