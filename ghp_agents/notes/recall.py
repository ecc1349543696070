"""Recall: find the notes that answer a question, or that fit what is worked on."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ghp_agents.core import globs as pattern
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.finding import Finding
from ghp_agents.issues.issue import Issue
from ghp_agents.notes import service as notes
from ghp_agents.notes.note import Note
from ghp_agents.notes.search import bm25 as textrank
from ghp_agents.notes.search.result import Hit, IndexUpdate
from ghp_agents.ports import IssueTracker, KnowledgeBase, StateStore
from ghp_agents.state.join import Problem
from ghp_agents.workspace import Workspace

LIMIT = 5
FITTING = 8  # notes that come without being asked for
WORTH = 2  # words in common that few notes have; less does not come unasked
QUERY_LIMIT = 2_000  # characters


class Recalled(NamedTuple):
    """What was found, the best first, and what its reader should know of the search."""

    notes: tuple[Note, ...]
    scores: tuple[float, ...]
    total: int  # notes that were searched
    shortcomings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    trouble: GhpError | None = None  # why only words were compared, this time


def recall(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    knowledge: KnowledgeBase,
    query: str,
    *,
    issue: str | None = None,
    path: str | None = None,
    limit: int = LIMIT,
) -> Recalled:
    """The active notes that answer the query best; of an issue, or about a path, if one is named.

    Where the knowledge base fails, words are compared instead, and that is said. Raises UsageError,
    NotFoundError.
    """
    asked = query.encode("utf-8", "replace").decode("utf-8").strip()[:QUERY_LIMIT]
    if not asked:
        raise UsageError("The question is empty.", hint="Ask as you would ask a colleague.")
    known, problems = notes.read_all(store.snapshot())
    active = notes.active(ws, known)
    among = _among(tracker, active, issue, path)
    trouble: GhpError | None = None
    try:
        hits = knowledge.search(asked, active, limit, among) if active and among != set() else []
    except GhpError as error:
        trouble, hits = error, by_words(asked, active, limit, among)
    by_id = {note.id: note for note in active}
    return Recalled(
        notes=tuple(by_id[hit.note] for hit in hits),
        scores=tuple(hit.score for hit in hits),
        total=len(active) if among is None else len(among),
        shortcomings=tuple(knowledge.shortcomings()),
        problems=tuple(problems),
        trouble=trouble,
    )


def _among(
    tracker: IssueTracker, active: Sequence[Note], issue: str | None, path: str | None
) -> set[str] | None:
    if issue is None and path is None:
        return None
    chosen = list(active)
    if issue is not None:
        numbers = tracker.get(issue).numbers
        chosen = [note for note in chosen if note.issue in numbers]
    if path is not None:
        chosen = [note for note in chosen if concerns(note, [path])]
    return {note.id for note in chosen}


def by_words(
    query: str, known: Sequence[Note], limit: int, among: Collection[str] | None = None
) -> list[Hit]:
    """What shares words with the query; needs no index."""
    texts = {note.id: note.text for note in known if among is None or note.id in among}
    scores = textrank.rank(query, texts)
    ordered = sorted(scores, key=lambda note: (-scores[note], note))
    return [Hit(note, scores[note]) for note in ordered[:limit]]


def concerns(note: Note, paths: Collection[str]) -> bool:
    """Whether a note is about one of the paths."""
    try:
        return bool(note.paths) and any(pattern.covers(note.paths, path) for path in paths)
    except UsageError:  # somebody wrote by hand what is no pattern
        return False


def fitting(
    ws: Workspace,
    store: StateStore,
    issue: Issue | None,
    numbers: Collection[int | None],
    paths: Collection[str],
) -> list[Note]:
    """What an agent should know before it goes on: first what was learnt on the issue itself, then
    what is about the files touched, then what shares rare words with the issue.

    By the notes alone: a session must not wait for an index.
    """
    known = notes.active(ws, notes.read_all(store.snapshot())[0])
    latest = list(reversed(known))
    own = [note for note in latest if note.issue is not None and note.issue in numbers]
    near = [note for note in latest if concerns(note, paths)]
    chosen = list({note.id: note for note in [*own, *near]}.values())
    if issue is not None:
        rest = [note for note in known if note not in chosen]
        about = f"{issue.title} {issue.body}"[:QUERY_LIMIT]
        shared = textrank.rare_in_common(about, {note.id: note.text for note in rest})
        enough = [note for note in rest if shared[note.id] >= WORTH]
        by_id = {note.id: note for note in enough}
        chosen += [by_id[hit.note] for hit in by_words(about, enough, FITTING)]
    return chosen[:FITTING]


def learnt(
    ws: Workspace, store: StateStore, actor: str, numbers: Collection[int | None]
) -> list[Note]:
    """The active notes that came of an issue, or of an actor's work without one."""
    known = notes.active(ws, notes.read_all(store.snapshot())[0])
    if set(numbers) == {None}:
        return [note for note in known if note.issue is None and note.by.name == actor]
    return [note for note in known if note.issue in numbers]


def reindex(ws: Workspace, store: StateStore, knowledge: KnowledgeBase) -> IndexUpdate:
    """Let the index be what the active notes say; twice is as good as once. Raises
    KnowledgeError."""
    return knowledge.bring(notes.active(ws, notes.read_all(store.snapshot())[0]))
