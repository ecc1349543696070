"""Read the cards from the commit of the default branch, which only a merge can change.

A file of a worktree may be an agent's own, so none is read: nobody gives rights to itself.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.cards import card
from ghp_agents.cards.card import FOLDER, MACHINES, AgentCard, CardError, is_card
from ghp_agents.core import front_matter
from ghp_agents.core.ids import one_line
from ghp_agents.git import clone_files, default_branch
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.hotpath.heartbeat import is_name

MOST = 200  # files, and agents
LARGEST = 100_000  # bytes of a file
MACHINES_LIMIT = 50_000  # characters: the plain YAML parser reads some 100 kB a second
Approved = Callable[[str, str], bool]  # whether a person agreed to a file: its path and text


class CardProblem(NamedTuple):
    """Something wrong with a file of cards."""

    path: str
    line: int  # 0: the whole file
    text: str
    is_ignored: bool  # the card does not count; else only a part of it

    @property
    def place(self) -> str:
        """The file, with the line if it is known."""
        return f"{self.path}, line {self.line}" if self.line else self.path

    @property
    def told(self) -> str:
        """What is wrong, and where."""
        return f"{self.place} on main: {self.text}"


class Cards(NamedTuple):
    """The cards of a commit by agent, and what is wrong with them."""

    by_agent: Mapping[str, AgentCard] = {}
    problems: tuple[CardProblem, ...] = ()


def read(folder: Path, ref: str, approved: Approved, agreed: Collection[str] = ()) -> Cards:
    """The cards in the commit of a full ref. An invalid file hides no other file. A person agreed
    to earlier texts of the paths `agreed`. Raises GitError."""
    by_name: dict[str, AgentCard] = {}
    problems: list[CardProblem] = []
    listed = _listed(folder, ref)
    for path, why in listed.items():
        if why:  # who is limited by a card must not run without it
            problems.append(CardProblem(path, 0, why, is_ignored=True))
            by_name.update(
                (own_card.name, own_card) for own_card in _broken(_name(path), problems[-1])
            )
    most = MOST + len(by_name)
    for path, text in _texts(folder, ref, listed).items():
        try:
            cards = parse_file(path, text, problems)
        except CardError as error:
            problems.append(_problem(path, text, error))
            cards = _broken(_name(path), problems[-1])
        cards = [own_card._replace(was_agreed=path in agreed) for own_card in cards]
        is_approved = any(own_card.grants for own_card in cards) and approved(path, text)
        for own_card in cards:
            if own_card.name in by_name:  # the agent's own file comes first
                why = f"{own_card.name} has a card in {by_name[own_card.name].path}, which counts"
                problems.append(CardProblem(path, 0, why, is_ignored=True))
            elif len(by_name) < most:
                by_name[own_card.name] = own_card._replace(approved=is_approved)
    by_name.update(_lost(by_name, [path for path in agreed if path not in listed], approved))
    return Cards(by_name, tuple(problems))


def _lost(
    by_name: Mapping[str, AgentCard], missing: Iterable[str], approved: Approved
) -> Iterator[tuple[str, AgentCard]]:
    """The agents whose file a person agreed to, and which is no longer there: they wait until a
    person agrees to that, too."""
    for path in missing:
        name = _name(path)
        if name and is_card(path) and not approved(path, ""):
            card = by_name.get(name) or AgentCard(name, path)
            yield name, card._replace(was_agreed=True, approved=False)


def texts(folder: Path, ref: str) -> dict[str, str]:
    """The files of cards in a commit with their texts, the agents' own first. Links and long files
    are left out. Raises GitError."""
    return _texts(folder, ref, _listed(folder, ref))


def machines_problem(folder: Path, ref: str) -> str:
    """Why the file with many agents cannot be read as a whole; empty if it can, or is not there.
    Raises GitError."""
    listed = _listed(folder, ref)
    if listed.get(MACHINES):
        return listed[MACHINES]
    try:
        for path, text in _texts(folder, ref, {MACHINES: ""} if MACHINES in listed else {}).items():
            parse_file(path, text, [])
    except CardError as error:
        return str(error)
    return ""


def _listed(folder: Path, ref: str) -> dict[str, str]:
    """The files of cards in a commit, the agents' own first, each with the reason why it is not
    read; an empty reason if it is."""
    with suppress(UnreadableRefsError):
        commit = clone_files.ref(folder, ref) if ref.startswith("refs/") else ref
        if not commit or clone_files.lacks(folder, commit, FOLDER, MACHINES):
            return {}
    args = ["ls-tree", "-z", "--long", "--full-tree", ref, "--", f"{FOLDER}/", MACHINES]
    shown = git.run(args, cwd=folder)
    ordered = sorted(
        (path == MACHINES, path, why) for path, why in map(_file, shown.names) if is_card(path)
    )
    rest = f"more than {MOST} files have cards"
    return {path: why or ("" if n < MOST else rest) for n, (_, path, why) in enumerate(ordered)}


def _texts(folder: Path, ref: str, listed: Mapping[str, str]) -> dict[str, str]:
    paths = [path for path, why in listed.items() if not why]
    texts = {path: default_branch.text(folder, ref, path) for path in paths}
    return {path: text for path, text in texts.items() if text is not None}


def _file(line: str) -> tuple[str, str]:
    """The path in a line of `ls-tree --long`, and why the file is not read."""
    facts, _, path = line.partition("\t")
    mode, _, _, size = facts.split()
    if not mode.startswith("100"):
        return path, "it is a link or a folder, not a file"
    fits = size.isdigit() and int(size) <= LARGEST
    return path, "" if fits else f"it has more than {LARGEST:,} bytes"


def parse_file(path: str, text: str, problems: list[CardProblem]) -> list[AgentCard]:
    """The cards in a file. Mistakes that leave the file usable are added to `problems`. Raises
    CardError."""
    cards: list[AgentCard] = []
    for name, fields in _entries(path, text):
        if not isinstance(fields, dict):
            error = CardError(name, "is not an agent with fields")
            problems.append(_problem(path, text, error))
            cards += _broken(name, problems[-1])
            continue
        for key, meant in card.unknown(fields):
            guess = f" (did you mean `{meant}`?)" if meant else ""
            line = _line_of(text, key, name if path == MACHINES else "")
            problems.append(
                CardProblem(path, line, f"`{key}` is not known{guess}", is_ignored=False)
            )
        try:
            cards.append(card.parse(name, path, fields))
        except CardError as error:
            if path != MACHINES:
                raise
            problems.append(_problem(path, text, error, name))
            cards += _broken(name, problems[-1])
    return cards


def _broken(name: str, problem: CardProblem) -> list[AgentCard]:
    """The card of an agent that must not run without it."""
    is_agent = bool(name) and is_name(name)
    return [AgentCard(name, problem.path, broken=problem.told)] if is_agent else []


def _name(path: str) -> str:
    return "" if path == MACHINES else path.removeprefix(f"{FOLDER}/").removesuffix(".md")


def instructions(folder: Path, ref: str, path: str) -> str:
    """The text below the front matter of an agent's own file; empty if there is none."""
    text = default_branch.text(folder, ref, path) if path.endswith(".md") else None
    try:
        return front_matter.parse(f"{text}\n".encode()).body.strip() if text else ""
    except ValueError:
        return ""


def _entries(path: str, text: str) -> Iterator[tuple[str, Any]]:
    try:
        if path != MACHINES:
            yield _name(path), front_matter.parse(f"{text}\n".encode()).meta
            return
        whole = front_matter.load(text, MACHINES_LIMIT, "it")
    except ValueError as error:
        raise CardError("", str(error)) from None
    agents = whole.get("agents") if isinstance(whole, dict) else None
    if not isinstance(agents, dict):
        raise CardError("", "it has no `agents:` with a name for each")
    for name, fields in agents.items():
        yield str(name), fields


def _problem(path: str, text: str, error: CardError, name: str = "") -> CardProblem:
    why = f"{one_line(name, 40)}: {error}" if name else str(error)
    line = _line_of(text, error.field, name) if error.field else 0
    return CardProblem(path, line, why, is_ignored=True)


def _line_of(text: str, key: str, name: str = "") -> int:
    """The line with a field, below an agent's name if there is one; 0 if it is not found."""
    start = re.search(rf"^\s+{re.escape(name)}\s*:", text, re.M) if name else None
    begin = start.end() if start else 0
    match = re.compile(rf"^\s*{re.escape(key)}\s*:", re.M).search(text, begin)
    return text.count("\n", 0, match.end()) + 1 if match else 0
