"""The settings of a clone: from the working copy, the default branch, and the person's own file.

Settings that run, place or redirect something count if they are in the person's own file, or on the
default branch with the person's consent. All others are read from the working copy. The result is
cached, and the cache is validated without starting git.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError, NotSetUpError
from ghp_agents.core.json_file import object_file
from ghp_agents.git import default_branch
from ghp_agents.git import process as git
from ghp_agents.git.default_branch import DefaultBranch
from ghp_agents.hotpath import fastjson, own_file, policy_stamp
from ghp_agents.hotpath.locate import Location
from ghp_agents.settings import agreement, consent, last_read
from ghp_agents.settings.consent import Agreement, Judged
from ghp_agents.settings.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.cards.card import AgentCard
    from ghp_agents.cards.read_cards import Cards

FILE = ".ghp/config.json"
CACHE = "settings.json"  # in the clone's folder in the home
TRUNK = "main "  # with the ref: the name of the default branch's file among the last values
LARGEST = 1_000_000  # bytes of a file
TRUNK_KEYS = ("trunk", "main_branch")
Marks = list[list[Any]]
UNCLEAR = 100  # branches whose files are read if nothing tells which is the default one
TRIES = 3  # each default branch that names another one adds files to watch


class ConfigPlaces(NamedTuple):
    """Where a clone's settings are."""

    common_dir: Path
    folder: Path  # git's working folder
    root: Path  # contains the working copy
    environ: Mapping[str, str]

    @property
    def own(self) -> Path:
        """The person's own file. Upstream ignores XDG_CONFIG_HOME for it, so we do, too."""
        return Path(self.environ.get("HOME") or "/", ".config/ghp-cli/config.json")

    @property
    def home(self) -> Path:
        """The clone's folder in the home, which no run in a sandbox can write."""
        return Path(own_file.home_folder(str(self.common_dir), self.environ))

    @property
    def files(self) -> list[Path]:
        """The possible files; later ones win."""
        return [self.root / FILE, self.own]


class Trunk(NamedTuple):
    """The settings on the default branch."""

    kept: dict[str, Any]
    open: dict[str, Any]
    line: DefaultBranch | None
    cards: Mapping[str, "AgentCard"] = {}


def ground(place: Location, root: Path, environ: Mapping[str, str]) -> ConfigPlaces:
    """The places of the settings for the clone at `place`."""
    folder = Path(place.toplevel or place.git_dir)
    return ConfigPlaces(Path(place.common_dir), folder, root, environ)


def load(here: ConfigPlaces) -> Settings:
    """Defaults, then the repository's configuration, then the person's. Of a file that cannot be
    read the last values count; `unreadable` says so."""
    present = [(path, _signature(path)) for path in here.files if os.path.lexists(path)]
    # Another version may have cached other fields; a copied clone has its original's cache.
    own_place = str(here.common_dir)
    stamp = [sorted(Settings._fields), own_place, *([str(path), x] for path, x in present)]
    cache = here.home / CACHE
    cached = fastjson.read_object(str(cache))
    if cached and cached.get("stamp") == stamp and _is_current(cached):
        return from_values(cached["values"])
    troubles: list[str] = []
    own = _last_values(here, here.own, troubles)
    checked_out = _last_values(here, here.root / FILE, troubles)
    marks, values = said_now(here, checked_out, own, troubles)
    if troubles:  # the next command reads again; hooks use these values
        values, stamp = values | {"unreadable": troubles}, []
    if (
        present or cache.exists() or Path(here.common_dir, "ghp").is_dir()
    ):  # otherwise nothing was set up here
        object_file(cache).write({"stamp": stamp, "marks": marks, "values": values})
    return from_values(values)


def said_now(
    here: ConfigPlaces,
    checked_out: Mapping[str, Any],
    own: Mapping[str, Any],
    troubles: list[str] | None = None,
) -> tuple[Marks, dict[str, Any]]:
    """The values of all three sources, and marks that show when the default branch's part changes.
    Marks are taken before reading, so that changes in between are noticed. `troubles` gets what
    cannot be read."""
    paths = _watched_paths(here, own)
    for _ in range(TRIES):
        marks = policy_stamp.marks(paths)
        unread: list[str] = []
        trunk = _trunk(here, own, unread)
        paths = _watched_paths(here, own, trunk)
        if set(paths) <= {path for path, _ in marks}:
            break
    marks = [mark for mark in marks if mark[0] in paths]
    if troubles is not None:
        troubles += [trouble for trouble in unread if trouble not in troubles]
    return marks, _merged(consent.ordinary(checked_out), trunk, own)


def at(here: ConfigPlaces, commit: str) -> Settings | None:
    """The settings with the repository's configuration from a commit; None if the commit has none.
    Raises GhpError."""
    from ghp_agents.settings import schema

    text = default_branch.text(here.folder, commit, FILE)
    if text is None:
        return None
    own = own_values(here)
    try:
        configured = schema.values(f"{commit[:12]}:{FILE}", text)
    except schema.ConfigError:
        main = main_line(here, own)
        if main is None or not last_read.has(here.home, TRUNK + main.ref):
            raise
        configured = last_read.last(here.home, TRUNK + main.ref)
    answer = agreement.read(here.environ, here.common_dir)
    kept, left = consent.judged(
        configured, answer, is_owners=is_of_owner(here, own, commit, answer)
    )
    trunk = Trunk(kept, left, DefaultBranch(commit[:12], commit, ""))
    return from_values(_merged(consent.ordinary(configured), trunk, own))


def is_of_owner(here: ConfigPlaces, own: Mapping[str, Any], commit: str, answer: Agreement) -> bool:
    """Whether a commit is on the default branch of the trusted owner's remote."""
    if not answer.owner:
        return False
    line = main_line(here, own)
    is_theirs = line is not None and _is_owners(here, line, answer)
    from ghp_agents.git import worktree  # needed once for each change

    return is_theirs and line is not None and worktree.contains(here.folder, line.ref, commit)


def main_line(here: ConfigPlaces, own: Mapping[str, Any]) -> DefaultBranch | None:
    """The default branch. Where nothing else tells, it is the one branch whose own file names it in
    `agents.trunk`. None if there is none. Raises GitError."""
    named, remote = _named(own), own.get("remote")
    line = default_branch.find(here.folder, remote=remote, named=named)
    if line or named:
        return line
    naming = [line for line in _unclear(here, remote) if _names_itself(here, line)]
    names = {line.name for line in naming}
    return naming[0] if len(names) == 1 else None


def _named(own: Mapping[str, Any]) -> str | None:
    return own.get("trunk") or own.get("main_branch")


def _unclear(here: ConfigPlaces, remote: str | None) -> list[DefaultBranch]:
    """The branches of which one is the default one, if nothing tells which."""
    from ghp_agents.git import worktree  # rarely needed

    remote = remote or default_branch.remote_of(here.folder, worktree.branches(here.folder))
    pushed, local = default_branch.candidates(here.folder, remote)
    prefix = f"{default_branch.REMOTES}{remote}/"
    lines = [DefaultBranch(name, prefix + name, remote) for name in pushed]
    lines += [DefaultBranch(name, default_branch.HEADS + name, remote) for name in local]
    return lines[:UNCLEAR]


def _names_itself(here: ConfigPlaces, line: DefaultBranch) -> bool:
    text = default_branch.text(here.folder, line.ref, FILE)
    if text is None:
        return False
    from ghp_agents.settings import schema

    try:
        return _named(schema.values(f"{line.ref}:{FILE}", text)) == line.name
    except schema.ConfigError:
        return False


def of_person(here: ConfigPlaces) -> Settings:
    """The settings from the person's own file only. Raises ConfigError."""
    return from_values(_merged({}, Trunk({}, {}, None), own_values(here)))


def own_values(here: ConfigPlaces) -> dict[str, Any]:
    """The values in the person's own file; the last ones if it cannot be read."""
    return _last_values(here, here.own, [])


def _last_values(here: ConfigPlaces, path: Path, troubles: list[str]) -> dict[str, Any]:
    """The values of a file; none if there is no file."""
    source = str(path)

    def read() -> dict[str, Any]:
        return _values(path, may_be_empty=not last_read.has(here.home, source))

    return last_read.values(here.home, source, read, troubles)


def _trunk(here: ConfigPlaces, own: Mapping[str, Any], troubles: list[str]) -> Trunk:
    """The settings on the default branch; empty if it has none, or cannot be read."""
    answer = agreement.read(here.environ, here.common_dir)
    named = _named(own)
    try:
        line = main_line(here, own)
        judged = judge(here, line, answer, troubles)
        names = {key: judged.kept.pop(key) for key in TRUNK_KEYS if key in judged.kept}
        other = names.get("trunk") or names.get("main_branch")
        if named or not other or line is None:  # the person's own setting wins
            return Trunk(*judged, line, _known_cards(here, line, answer))
        line = default_branch.find(here.folder, remote=own.get("remote"), named=other) or line
        kept, left = judge(here, line, answer, troubles)
        return Trunk(kept | names, left, line, _known_cards(here, line, answer))
    except (git.GitError, NotSetUpError):
        return Trunk({}, {}, None)


def judge(
    here: ConfigPlaces,
    line: DefaultBranch | None,
    answer: Agreement,
    troubles: list[str] | None = None,
) -> Judged:
    """The settings on a default branch that count, and those that nobody agreed to. If its file
    cannot be read, the last values are judged, and `troubles` gets the reason."""
    text = default_branch.text(here.folder, line.ref, FILE) if line else None
    if line is None or text is None:
        return Judged({}, {})
    from ghp_agents.settings import schema

    name, content = f"{line.ref}:{FILE}", text
    unread = [] if troubles is None else troubles
    configured = last_read.values(
        here.home, TRUNK + line.ref, lambda: schema.values(name, content), unread
    )
    judged = consent.judged(configured, answer, is_owners=_is_owners(here, line, answer))
    # A value that would be found without the key needs no consent.
    plain = {"trunk": line.name, "main_branch": line.name, "remote": line.remote}
    same = {key: value for key, value in judged.open.items() if plain.get(key) == value}
    left = {key: value for key, value in judged.open.items() if key not in same}
    return Judged(judged.kept | same, left)


def cards(here: ConfigPlaces, line: DefaultBranch, answer: Agreement) -> "Cards":
    """The agents' cards on a default branch, and what is wrong with them. Raises GitError."""
    from ghp_agents.cards import read_cards  # needed only after a change
    from ghp_agents.cards.card import is_card

    is_owners = _is_owners(here, line, answer)

    def approved(path: str, text: str) -> bool:
        return is_owners or answer.covers(path, consent.plain_text(text))

    agreed = [path for path in answer.agreed if is_card(path)]
    return read_cards.read(here.folder, line.ref, approved, agreed)


def _known_cards(
    here: ConfigPlaces, line: DefaultBranch | None, answer: Agreement
) -> Mapping[str, "AgentCard"]:
    return cards(here, line, answer).by_agent if line else {}


def _is_owners(here: ConfigPlaces, line: DefaultBranch, answer: Agreement) -> bool:
    """Whether the branch is the default branch of the trusted owner's remote, as fetched."""
    if not answer.owner or not line.ref.startswith(default_branch.REMOTES):
        return False
    return git.config(here.folder, f"remote.{line.remote}.url") == answer.owner


def _watched_paths(
    here: ConfigPlaces, own: Mapping[str, Any], trunk: Trunk | None = None
) -> list[str]:
    names = [own.get("trunk"), own.get("main_branch")]
    remotes = [own.get("remote") or "origin"]
    if trunk and trunk.line:
        names += [trunk.line.name, trunk.kept.get("trunk"), trunk.kept.get("main_branch")]
        remotes.append(trunk.line.remote)
    line = trunk.line if trunk else None
    if trunk and line is None:
        with suppress(git.GitError, NotSetUpError):
            names += [line.name for line in _unclear(here, own.get("remote"))]
    paths = default_branch.watched(str(here.common_dir), remotes, filter(None, names), line)
    answers = str(agreement.place(here.environ, here.common_dir))
    return [*paths, f"{here.common_dir}/config", answers]


def _merged(ordinary: Mapping[str, Any], trunk: Trunk, own: Mapping[str, Any]) -> dict[str, Any]:
    sources = [values for values in (ordinary, trunk.kept, own) if values]
    if not (sources or trunk.open or trunk.cards):
        return {}
    from ghp_agents.settings import schema

    names = TRUNK_KEYS if any(own.get(key) for key in TRUNK_KEYS) else ()
    left = {key: value for key, value in trunk.open.items() if key not in {*own, *names}}
    values = schema.merged(sources)
    if left and trunk.line:
        values |= {"unagreed": left, "trunk_place": trunk.line.name}
    if trunk.cards:
        from ghp_agents.cards import card

        can = {name: [skill.id for skill in x.skills] for name, x in trunk.cards.items()}
        configured = values.get("capabilities", {})  # a person's setting overrides a card
        values["cards"] = {
            name: card.encode(agent_card) for name, agent_card in trunk.cards.items()
        }
        values["capabilities"] = {name: x for name, x in can.items() if x} | configured
    return values


def _is_current(cached: Mapping[str, Any]) -> bool:
    marks, values = cached.get("marks"), cached.get("values")
    if not isinstance(marks, list) or not isinstance(values, dict):
        return False
    return marks == policy_stamp.marks([str(path) for path, _ in marks])


def _values(path: Path, *, may_be_empty: bool = True) -> dict[str, Any]:
    """The values in a file; none without one. Raises ConfigError."""
    if not os.path.lexists(path):
        return {}
    from ghp_agents.settings import schema

    try:
        text = _text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    if not (text or may_be_empty):
        raise _odd(path, last_read.EMPTY)
    return schema.values(str(path), text)


def _text(path: Path) -> str:
    """A file's text. Raises OSError, UnicodeDecodeError, ConfigError."""
    # Without O_NONBLOCK, a pipe in the file's place would block us.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _odd(path, "it is not a file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _odd(path, f"it has more than {LARGEST:,} bytes")
    return data.decode("utf-8")


def _signature(path: Path) -> list[int]:
    """A value that changes with the file; empty if it cannot be looked at."""
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _odd(path: Path, why: str) -> GhpError:
    from ghp_agents.settings.schema import ConfigError

    return ConfigError(f"Cannot read {path}: {why}.", hint="Fix the file, or delete it.")


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> GhpError:
    from ghp_agents.settings.schema import ConfigError

    why = error.strerror if isinstance(error, OSError) else f"not UTF-8 text (byte {error.start})"
    return ConfigError(f"Cannot read {path}: {why}.", hint="Fix the file or its permissions.")


def from_values(values: Mapping[str, Any]) -> Settings:
    """Settings from cached plain values."""
    names = set(Settings._fields)
    known_fields = {key: value for key, value in values.items() if key in names}
    capabilities = known_fields.get("capabilities", {})
    lists = {key: tuple(value) for key, value in known_fields.items() if isinstance(value, list)}
    left = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in known_fields.get("unagreed", {}).items()
    }
    by_agent = {name: tuple(words) for name, words in capabilities.items()}
    return Settings(**{**known_fields, **lists, "capabilities": by_agent, "unagreed": left})
