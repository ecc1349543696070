"""Merges two versions of a file as git would, in an empty repository of its own.

That repository has no configuration and no attributes of anybody, so no merge driver, filter or
hook can run. It reads the clone's objects, and everything that it writes is deleted with it.
"""

import os

from ghp_agents.hotpath import marked_conflicts, own_file
from ghp_agents.hotpath.git_calls import QUIET, GitCall, run_all
from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.marked_conflicts import Region, mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARKER = 64  # characters of a conflict marker, or more if the file has such a line
_MODE = b"100644"
_WHO = b"merge <merge@localhost> 0 +0000"
_USAGE = 129  # the exit code of git before 2.38, which has no `merge-tree --write-tree`


@dataclass
class MergeSide:
    """One version of the file: its content or, for the base, its id; or other files in its place.

    A side without files has deleted it.
    """

    files: "Mapping[str, bytes | str]"  # content, or the id of a stored object, by path


@dataclass
class TrialResult:
    """The result of one merge. Without regions, a conflict is of the file as a whole."""

    conflicts: bool
    path: str = ""  # of the conflict; another one if a side has moved the file
    regions: "Sequence[Region]" = ()


class TrialRepository:
    """The temporary repository, a context manager. Raises OSError if it cannot be created."""

    def __init__(
        self, objects: str, oid_length: int, environ: "Mapping[str, str]", until: float
    ) -> None:
        self._objects = objects
        self._is_sha256 = oid_length == 64
        self._environ = environ
        self._until = until
        self.folder = ""

    def __enter__(self) -> "TrialRepository":
        self.folder = own_file.make_folder(own_file.places(self._environ))
        try:
            for name in ("info", "objects", "refs"):
                os.mkdir(f"{self.folder}/{name}")
            _write(f"{self.folder}/HEAD", b"ref: refs/heads/main\n")
            _write(f"{self.folder}/config", self._config())
        except OSError:
            own_file.remove_folder(self.folder)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        own_file.remove_folder(self.folder)

    def merge(
        self, cases: "Sequence[tuple[MergeSide, MergeSide, MergeSide]]", *, union: bool = False
    ) -> "list[TrialResult]":
        """The merge of each (base, mine, theirs), all at the same time. Raises OSError."""
        size = self._marker_size([side for case in cases for side in case[1:]])
        attributes = f"* conflict-marker-size={size}{' merge=union' if union else ''}\n"
        _write(f"{self.folder}/info/attributes", attributes.encode("ascii"))
        calls = []
        for base, mine, theirs in cases:
            root = self._commit(base)
            words = self._commit(mine, root), self._commit(theirs, root)
            args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *words)
            calls.append(self._call(*args))
        done = run_all(calls, self._until)
        if any(code == _USAGE for code, _ in done):
            return self._merge_files(cases, size, union=union)
        return [
            self._read_merge(case, size, code, out)
            for case, (code, out) in zip(cases, done, strict=True)
        ]

    def first_change(self, base: str, after: bytes) -> "tuple[int, int]":
        """The first lines that differ from a stored object, in the version `after`."""
        hunks = self._hunks([(base, self._add(b"blob", after))])[0]
        return (hunks[0][2], hunks[0][2] + hunks[0][3]) if hunks else (0, 0)

    def patches(self, pairs: "Sequence[tuple[str, bytes | str]]") -> "list[bytes | None]":
        """Git's patch from a stored object to a content or another object, as merges see it; None
        if an object is missing. Raises OSError."""
        from ghp_agents.hotpath.line_ranges import DIFF

        calls = [self._call("diff", *DIFF, base, self._blob(after)) for base, after in pairs]
        return [out if code == 0 else None for code, out in run_all(calls, self._until)]

    def _config(self) -> bytes:
        lines = ["[core]", "bare = true", "logAllRefUpdates = false", "attributesFile = /dev/null"]
        lines.append(f"repositoryFormatVersion = {int(self._is_sha256)}")
        if self._is_sha256:
            lines += ["[extensions]", "objectFormat = sha256"]
        lines += ["[merge]", "directoryRenames = false", ""]
        return "\n".join(lines).encode("ascii")

    def _call(self, *args: str) -> GitCall:
        escaped = self._objects.replace("\\", "\\\\").replace('"', '\\"')
        names = ("PATH", "LD_LIBRARY_PATH")
        env = {name: self._environ[name] for name in names if name in self._environ}
        env |= QUIET | {
            "GIT_DIR": self.folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{escaped}"',
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "HOME": self.folder,
            "XDG_CONFIG_HOME": self.folder,
        }
        return GitCall(args, env)

    # ------------------------------------------------------------------------- objects

    def _commit(self, side: MergeSide, parent: str = "") -> str:
        tree = self._tree({os.fsencode(path): self._blob(x) for path, x in side.files.items()})
        parents = b"parent " + parent.encode() + b"\n" if parent else b""
        text = b"tree " + tree.encode() + b"\n" + parents
        return self._add(
            b"commit", text + b"author " + _WHO + b"\ncommitter " + _WHO + b"\n\nversion\n"
        )

    def _blob(self, content: "bytes | str") -> str:
        return content if isinstance(content, str) else self._add(b"blob", content)

    def _tree(self, files: "Mapping[bytes, str]") -> str:
        """A tree without folders, which cost time and change no merge."""
        lines = [
            _MODE + b" " + _flat(path) + b"\0" + bytes.fromhex(oid)
            for path, oid in sorted(files.items(), key=lambda item: _flat(item[0]))
        ]
        return self._add(b"tree", b"".join(lines))

    def _add(self, kind: bytes, content: bytes) -> str:
        import zlib

        whole = kind + b" %d\0" % len(content) + content
        oid = _digest(whole, self._is_sha256)
        place = f"{self.folder}/objects/{oid[:2]}"
        if not os.path.exists(f"{place}/{oid[2:]}"):
            os.makedirs(place, exist_ok=True)
            _write(f"{place}/{oid[2:]}", zlib.compress(whole, 0))
        return oid

    def _object(self, oid: str) -> bytes:
        """The content of an object that was written here. Raises OSError."""
        import zlib

        with open(f"{self.folder}/objects/{oid[:2]}/{oid[2:]}", "rb") as file:
            return zlib.decompress(file.read()).partition(b"\0")[2]

    def _found(self, tree: str, name: bytes) -> str:
        """The object of a name in a tree that was written here."""
        content, size = self._object(tree), 32 if self._is_sha256 else 20
        while content:
            head, _, rest = content.partition(b"\0")
            if head.partition(b" ")[2] == name:
                return rest[:size].hex()
            content = rest[size:]
        raise FileNotFoundError(os.fsdecode(name))

    # ------------------------------------------------------------------------- results

    def _read_merge(
        self, case: "tuple[MergeSide, MergeSide, MergeSide]", size: int, code: int, out: bytes
    ) -> TrialResult:
        if code == 0:
            return TrialResult(conflicts=False)
        words = [word for word in out.split(b"\0") if word]
        if code != 1 or len(words) < 2:
            raise OSError(f"git merge-tree failed with exit code {code}")
        path = next((x for side in case[1:] for x in side.files if _name(x) == words[1]), "")
        my_text, their_text = _content(case[1], path), _content(case[2], path)
        if my_text is None or their_text is None:
            return TrialResult(conflicts=True, path=path)
        content = self._object(self._found(words[0].decode("ascii"), words[1]))
        return TrialResult(True, path, self._regions(content, size, my_text, their_text))

    def _merge_files(
        self, cases: "Sequence[tuple[MergeSide, MergeSide, MergeSide]]", size: int, *, union: bool
    ) -> "list[TrialResult]":
        """The same for git before 2.38, which finds no files that were moved."""
        args = ("merge-file", "-p", "-q", f"--marker-size={size}", *(("--union",) * union))
        texts: list[tuple[bytes, bytes] | None] = []
        calls = []
        for number, (base, *sides) in enumerate(cases):
            path = next((path for side in sides for path in side.files), "")
            mine, theirs = (_content(side, path) for side in sides)
            if mine is None or theirs is None:
                texts.append(None)
                continue
            texts.append((mine, theirs))
            names = [f"{self.folder}/{number}-{part}" for part in ("mine", "base", "theirs")]
            for name, content in zip(names, (mine, self._base(base), theirs), strict=True):
                _write(name, content)
            calls.append(self._call(*args, *names))
        done = iter(run_all(calls, self._until))
        merged: list[TrialResult] = []
        for (_, *sides), text in zip(cases, texts, strict=True):
            path = next((path for side in sides for path in side.files), "")
            code, out = (1, b"") if text is None else next(done)
            regions = self._regions(out, size, *text) if text and 0 < code < 128 else []
            merged.append(TrialResult(code != 0, path if code else "", regions))
        return merged

    def _base(self, base: MergeSide) -> bytes:
        for content in base.files.values():
            if isinstance(content, bytes):
                return content
            return run_all([self._call("cat-file", "blob", content)], self._until)[0][1]
        return b""

    def _regions(self, content: bytes, size: int, mine: bytes, theirs: bytes) -> "list[Region]":
        """The conflicts that are marked in `content`, by their lines in both versions."""
        marked, my_lines, their_lines = marked_conflicts.marked(content, size)
        if not marked:
            return []
        sides = []
        for lines, text in ((my_lines, mine), (their_lines, theirs)):
            joined = b"".join(lines)
            is_same = joined.rstrip(b"\n") == text.rstrip(b"\n")
            sides.append(
                None if is_same else (self._add(b"blob", joined), self._add(b"blob", text))
            )
        hunks = iter(self._hunks([side for side in sides if side is not None]))
        ours, others = ([] if side is None else next(hunks) for side in sides)
        return [
            Region(
                mapped(ours, conflict.start), mapped(ours, conflict.end),
                mapped(others, conflict.their_start), mapped(others, conflict.their_end),
            )
            for conflict in marked
        ]  # fmt: skip

    def _hunks(self, pairs: "Sequence[tuple[str, str]]") -> "list[list[tuple[int, int, int, int]]]":
        """The differences of pairs of stored objects: first line and number of lines, from 0."""
        args = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--text", "-U0")
        calls = [self._call(*args, *pair) for pair in pairs]
        return [marked_conflicts.hunks(out) for _, out in run_all(calls, self._until)]

    def _marker_size(self, sides: "Sequence[MergeSide]") -> int:
        texts = [text for side in sides for text in side.files.values() if isinstance(text, bytes)]
        size = MARKER
        while any(char * size in text for text in texts for char in (b"<", b"=", b">")):
            size *= 2
        return size


def _name(path: str) -> bytes:
    return _flat(os.fsencode(path))


def _flat(path: bytes) -> bytes:
    """A name for each path. It keeps the ending, by which git finds moved files faster."""
    return path.replace(b"%", b"%25").replace(b"/", b"%2f")


def _content(side: MergeSide, path: str) -> bytes | None:
    """The content of a side's file, which it may have moved to `path`; None if it is deleted."""
    contents = list(side.files.values())
    content = side.files.get(path) or (contents[0] if len(contents) == 1 else None)
    return content if isinstance(content, bytes) else None


def _digest(data: bytes, is_sha256: bool) -> str:
    """The id of an object. The same file is asked for again and again, and SHA-1 is slow."""
    key = data, is_sha256
    if key not in _IDS:
        if len(_IDS) >= _IDS_KEPT:
            _IDS.clear()
        _IDS[key] = _hash(data, is_sha256)
    return _IDS[key]


_IDS: "dict[tuple[bytes, bool], str]" = {}  # the ids of the last objects
_IDS_KEPT = 32


def _hash(data: bytes, is_sha256: bool) -> str:
    """CPython's own module spares the import of OpenSSL."""
    if not is_sha256:
        try:
            from _sha1 import sha1  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha1
        return str(sha1(data).hexdigest())
    from hashlib import sha256

    return sha256(data).hexdigest()


def blob_id(content: bytes, oid_length: int) -> str:
    """The id of a file's content."""
    return _digest(b"blob %d\0" % len(content) + content, oid_length == 64)


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, own_file.PRIVATE)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)
