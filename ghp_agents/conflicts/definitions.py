"""The conflict that git cannot see: one change removes a definition that another one's lines use.

Needs the extra `syntax`; without it nothing is found. The rule is in `syntax/bindings.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from ghp_agents.conflicts.syntax import parse
from ghp_agents.conflicts.syntax.bindings import Lost, Version, lost, uses
from ghp_agents.conflicts.syntax.changed_text import LONGEST_LINE, Change, defined, read_diff
from ghp_agents.conflicts.syntax.facts import SyntaxFacts
from ghp_agents.conflicts.syntax.languages import family, language_of
from ghp_agents.conflicts.syntax.modules import module_of
from ghp_agents.core.declared import HIDDEN, NULL
from ghp_agents.git import at_once
from ghp_agents.git import process as git
from ghp_agents.git.objects import read_blobs
from ghp_agents.ports import Clock

SECONDS = 5.0  # far more than a search needs; hostile files end here
LARGEST_FILE = 512_000  # bytes; larger ones are seldom written by hand
MOST_FILES = 400
MOST_BYTES = 16_000_000
MOST_NAMES = 200
MOST_ELSEWHERE = 40  # files that may define a name again
_ONE_SPACE = ("c", "ruby", "go")  # another file may define the name, too
_DIFF = (
    "-c", "core.bigFileThreshold=512k", "diff", "--raw", "-z", "--patch", "--unified=0",
    "--no-abbrev", "--diff-filter=AMDR", "-M", "-l200", "--no-ext-diff", "--no-textconv",
    "--no-color", "--ignore-submodules=all", "--inter-hunk-context=0",
)  # fmt: skip


class ChangedSide(NamedTuple):
    """An agent, and its work as a commit."""

    agent: str
    commit: str


class Pair(NamedTuple):
    """Two agents, and the commit that both started from."""

    base: str
    left: ChangedSide
    right: ChangedSide


class LostDefinition(NamedTuple):
    """A definition that one agent removed. The new name or place is null if it is not evident."""

    name: str
    kind: str  # function, class, method, type, constant or macro
    agent: Annotated[str, HIDDEN]
    path: str
    line: int  # in the base
    new_name: Annotated[str, NULL]  # empty unless it was renamed or moved with the same content
    new_path: Annotated[str, NULL]
    user: Annotated[str, HIDDEN]  # uses it in new lines
    used_in: Annotated[str, HIDDEN]
    lines: Annotated[tuple[int, ...], HIDDEN]


class _Direction(NamedTuple):
    """One agent's removals, seen from another one's new lines."""

    base: str
    remover: ChangedSide
    user: ChangedSide
    names: frozenset[str]


def find(
    git_dir: Path, pairs: Sequence[Pair], clock: Clock, *,
    env: Mapping[str, str] | None = None, seconds: float = SECONDS,
) -> list[LostDefinition]:  # fmt: skip
    """What merges of these pairs would break, in at most about `seconds`. `env` names git's object
    folders. What cannot be decided in time is left out."""
    if not parse.languages():
        return []
    try:
        return _Search(git_dir, env, clock, clock.interval()[1] + seconds).find(pairs)
    except (git.GitError, ValueError):
        return []


class _Search:
    """One search: changes and facts are read once."""

    def __init__(
        self, git_dir: Path, env: Mapping[str, str] | None, clock: Clock, deadline: float
    ) -> None:
        self._git_dir = git_dir
        self._env = env
        self._clock = clock
        self._deadline = deadline
        self._languages = parse.languages()
        self._changes: dict[tuple[str, str], list[Change]] = {}
        self._contents: dict[str, bytes | None] = {}
        self._facts: dict[tuple[str, str], SyntaxFacts | None] = {}

    def find(self, pairs: Sequence[Pair]) -> list[LostDefinition]:
        """What is lost, in the order of the pairs."""
        sides = {(pair.base, side.commit) for pair in pairs for side in (pair.left, pair.right)}
        at_once.each(lambda key: self._change(*key), sorted(sides))
        for key in sorted(sides):
            self._changes[key] = self._with_renamed(self._changes[key])
        directions = [direction for pair in pairs for direction in self._directions(pair)]
        names = _names(directions)
        if not names or len(names) > MOST_NAMES or self._left() <= 0:
            return []
        # Most names are variables: read the files that seem to lose them first.
        self._read(
            [change for direction in directions for change in self._losing(direction)], names
        )
        directions = [
            narrowed for direction in directions if (narrowed := self._narrowed(direction)).names
        ]
        self._read(
            [change for direction in directions for change in self._needed(direction)],
            _names(directions),
        )
        return [lost for direction in directions for lost in self._in_direction(direction)]

    def _left(self) -> float:
        return self._deadline - self._clock.interval()[1]

    def _git(self, *args: str) -> bytes:
        timeout = max(0.01, self._left())
        done = git.run(
            args, cwd=self._git_dir, git_dir=self._git_dir, env=self._env, timeout=timeout
        )
        return done.out if done.code == 0 else b""

    # ------------------------------------------------------------ candidates, by their text

    def _directions(self, pair: Pair) -> Iterator[_Direction]:
        for remover, user in ((pair.left, pair.right), (pair.right, pair.left)):
            names = frozenset(_candidates(self._change(pair.base, remover.commit),
                                          self._change(pair.base, user.commit)))  # fmt: skip
            if names:
                yield _Direction(pair.base, remover, user, names)

    def _change(self, base: str, commit: str) -> list[Change]:
        key = base, commit
        if key not in self._changes:
            output = self._git(*_DIFF, base, commit, "--") if self._left() > 0 else b""
            changes = read_diff(output)
            self._changes[key] = [
                change for change in changes if language_of(change.path) in self._languages
            ]
        return self._changes[key]

    def _with_renamed(self, changes: list[Change]) -> list[Change]:
        """A renamed file loses all names, though no line may say so."""
        renamed = {change.old_oid for change in changes if _is_renamed(change)}
        if not renamed:
            return changes
        self._read_contents(sorted(renamed)[:MOST_FILES])
        return [
            change._replace(lost=change.lost | self._defined(change))
            if _is_renamed(change)
            else change
            for change in changes
        ]

    def _defined(self, change: Change) -> frozenset[str]:
        text = (self._contents.get(change.old_oid) or b"").decode("utf-8", "replace")
        language = language_of(change.old)
        lines = (line for line in text.splitlines() if len(line) <= LONGEST_LINE)
        return frozenset(name for line in lines for _, name in defined(language, line))

    def _losing(self, direction: _Direction) -> list[Change]:
        mine = self._change(direction.base, direction.remover.commit)
        return [change for change in mine if change.lost & direction.names]

    def _narrowed(self, direction: _Direction) -> _Direction:
        """Only with names that a file defined before and defines no longer."""
        versions = [(change, self._version(change)) for change in self._losing(direction)]
        names = {
            definition.name
            for change, version in versions
            for definition in version.before.definitions
            if definition.name in direction.names & change.lost
            and (change.old != change.new or not version.has(definition.name, definition.owner))
        }
        return direction._replace(names=frozenset(names))

    def _needed(self, direction: _Direction) -> Iterator[Change]:
        mine = self._change(direction.base, direction.remover.commit)
        families = {family(change.path) for change in mine if change.lost & direction.names}
        yield from (change for change in mine if family(change.path) in families)
        for change in self._change(direction.base, direction.user.commit):
            if change.new_words & direction.names and family(change.path) in families:
                yield change._replace(old_oid="")

    # ------------------------------------------------------------ contents and facts

    def _read(self, changes: Sequence[Change], names: frozenset[str]) -> None:
        wanted: dict[tuple[str, str], None] = {}
        for change in changes:
            for path, oid in ((change.old, change.old_oid), (change.new, change.new_oid)):
                if path and oid.strip("0") and (oid, language_of(path)) not in self._facts:
                    wanted[oid, language_of(path)] = None
        self._read_contents([oid for oid, _ in wanted][:MOST_FILES])
        self._parse([key for key in wanted if self._contents.get(key[0]) is not None], names)

    def _read_contents(self, oids: Iterable[str]) -> None:
        oids = list(dict.fromkeys(oids))
        self._contents |= zip(oids, self._blobs(oids), strict=True)

    def _blobs(self, names: Sequence[str]) -> list[bytes | None]:
        return read_blobs(self._git_dir, names, self._env, largest=LARGEST_FILE)

    def _parse(self, keys: Sequence[tuple[str, str]], names: frozenset[str]) -> None:
        left = MOST_BYTES
        sources = []
        for key in sorted(keys, key=lambda key: len(self._contents[key[0]] or b"")):
            content = self._contents[key[0]] or b""
            if len(content) <= left:  # the small ones come first
                left -= len(content)
                sources.append((key, parse.Source(key[1], content)))
        parsed = parse.read_all(
            [source for _, source in sources], names, self._clock, self._deadline
        )
        self._facts |= {key: facts for (key, _), facts in zip(sources, parsed, strict=True)}

    def _version(self, change: Change) -> Version:
        before, after = (
            self._facts.get((oid, language_of(path))) if path and oid.strip("0") else SyntaxFacts()
            for path, oid in ((change.old, change.old_oid), (change.new, change.new_oid))
        )
        content = self._contents.get(change.new_oid) or b""
        text = content.decode("utf-8", "replace") if after and after.has_error else ""
        return Version(
            change, before or SyntaxFacts(), after or SyntaxFacts(), text, after is not None
        )

    # ------------------------------------------------------------ the rule

    def _in_direction(self, direction: _Direction) -> Iterator[LostDefinition]:
        removers, users = (
            [self._version(change) for change in self._change(direction.base, side.commit)]
            for side in (direction.remover, direction.user)
        )
        theirs = {version.change.old: version for version in removers if version.change.old}
        gone = list(lost(removers, direction.names))
        has_go = any(removed.path.endswith(".go") for removed in gone)
        go_module = self._go_module(direction.base) if has_go else ""
        for removed in gone:
            used = uses(removed, users, theirs, go_module)
            if used and not self._is_elsewhere(removed, direction.remover.commit):
                for path, lines in sorted(used.items()):
                    yield _result(removed, direction, path, lines)

    def _go_module(self, base: str) -> str:
        content = self._blobs([f"{base}:go.mod"])[0] or b""
        lines = content.decode("utf-8", "replace").splitlines()
        return next((line.split()[1] for line in lines if line.startswith("module ")
                     and len(line.split()) > 1), "")  # fmt: skip

    def _is_elsewhere(self, removed: Lost, commit: str) -> bool:
        """Whether another file still defines the name, where files share one space of names."""
        if family(removed.path) not in _ONE_SPACE:
            return False
        name = removed.definition.name
        args = ("grep", "-l", "-z", "-I", "-F", "-w", "-e", name, commit, "--")
        listed = self._git(*args).decode("utf-8", "surrogateescape").split("\0")[:-1]
        paths = [line.partition(":")[2] for line in listed]
        near = [path for path in paths if family(path) == family(removed.path)
                and module_of(path) == module_of(removed.path)]  # fmt: skip
        if len(near) > MOST_ELSEWHERE or self._left() <= 0:
            return True
        blobs = self._blobs([f"{commit}:{path}" for path in near])
        sources = [parse.Source(language_of(path), blob)
                   for path, blob in zip(near, blobs, strict=True) if blob]  # fmt: skip
        parsed = parse.read_all(sources, [name], self._clock, self._deadline)
        return any(
            facts is None or any(definition.name == name for definition in facts.definitions)
            for facts in parsed
        )


def _is_renamed(change: Change) -> bool:
    is_moved = bool(change.old and change.new) and change.old != change.new
    return is_moved and module_of(change.old) != module_of(change.new)


def _names(directions: Iterable[_Direction]) -> frozenset[str]:
    return frozenset(name for direction in directions for name in direction.names)


def _candidates(mine: Sequence[Change], theirs: Sequence[Change]) -> set[str]:
    """The names that one change seems to remove, and that the added lines of the other contain."""
    shared: set[str] = set()
    for language in {family(change.path) for change in mine}:
        names = [change.lost for change in mine if family(change.path) == language]
        words = [change.new_words for change in theirs if family(change.path) == language]
        shared |= frozenset().union(*names) & frozenset().union(*words)
    return shared


def _result(
    removed: Lost, direction: _Direction, path: str, lines: Sequence[int]
) -> LostDefinition:
    new_name = removed.new_name if removed.new_name != removed.definition.name else ""
    new_path = removed.new_path if removed.new_path != removed.path else ""
    return LostDefinition(
        removed.definition.name, removed.definition.kind, direction.remover.agent, removed.path,
        removed.definition.line, new_name, new_path, direction.user.agent, path, tuple(lines),
    )  # fmt: skip
