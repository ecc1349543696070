"""Recall: find the notes that answer a question, or that fit the current work."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.issues.issue import Issue
from ghp_agents.notes import service as notes
from ghp_agents.notes.note import Note
from ghp_agents.notes.search.result import Hit, IndexUpdate
from ghp_agents.ports import Context, IssueTracker, KnowledgeBase
from ghp_agents.state.record import Problem

if TYPE_CHECKING:
    from ghp_agents.core.finding import Finding

LIMIT = 5
FITTING = 8  # notes that are shown unasked
WORTH = 2  # rare words in common that a note needs to be shown unasked
QUERY_LIMIT = 2_000  # characters


class Recalled(NamedTuple):
    """The notes found, the best first, and what the reader should know about the search."""

    notes: tuple[Note, ...]
    scores: tuple[float, ...]
    total: int  # notes that were searched
    shortcomings: "tuple[Finding, ...]" = ()
    problems: tuple[Problem, ...] = ()
    trouble: GhpError | None = None  # why only words were compared this time


def recall(
    ctx: Context,
    knowledge: KnowledgeBase,
    query: str,
    *,
    issue: str | None = None,
    path: str | None = None,
    limit: int = LIMIT,
) -> Recalled:
    """Return the active notes that answer the query best; `issue` and `path` filter them.

    If the knowledge base fails, words are compared instead, and `trouble` says why. Raises
    UsageError, NotFoundError.
    """
    question = query.encode("utf-8", "replace").decode("utf-8").strip()[:QUERY_LIMIT]
    if not question:
        raise UsageError(
            "The question is empty.", hint="Give a question or a few words to search for."
        )
    all_notes, problems = notes.read_all(ctx.store.snapshot())
    active = notes.active(ctx.ws, all_notes)
    among = _filter_ids(ctx.tracker, active, issue, path)
    trouble: GhpError | None = None
    try:
        hits = knowledge.search(question, active, limit, among) if active and among != set() else []
    except GhpError as error:
        trouble, hits = error, by_words(question, active, limit, among)
    by_id = {note.id: note for note in active}
    return Recalled(
        notes=tuple(by_id[hit.note] for hit in hits),
        scores=tuple(hit.score for hit in hits),
        total=len(active) if among is None else len(among),
        shortcomings=tuple(knowledge.health()),
        problems=tuple(problems),
        trouble=trouble,
    )


def _filter_ids(
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
    query: str, candidates: Sequence[Note], limit: int, among: Collection[str] | None = None
) -> list[Hit]:
    """Return the notes that share words with the query; needs no index."""
    from ghp_agents.notes.search.text import TextBase

    return TextBase().search(query, candidates, limit, among)


def concerns(note: Note, paths: Collection[str]) -> bool:
    """Return whether a note is about one of the paths."""
    try:
        return bool(note.paths) and any(globs.covers(note.paths, path) for path in paths)
    except UsageError:  # an invalid pattern, written by hand
        return False


def fitting(
    ctx: Context, issue: Issue | None, numbers: Collection[int | None], paths: Collection[str]
) -> list[Note]:
    """Return what an agent should know before it continues. First come the issue's own notes, then
    those about the changed files, then those that share rare words with the issue.

    It uses no index: a session must not wait for one.
    """
    active = notes.active(ctx.ws, notes.read_all(ctx.store.snapshot())[0])
    latest = list(reversed(active))
    own = [note for note in latest if note.issue is not None and note.issue in numbers]
    near = [note for note in latest if concerns(note, paths)]
    chosen = list({note.id: note for note in [*own, *near]}.values())
    if issue is not None:
        from ghp_agents.notes.search import bm25

        rest = [note for note in active if note not in chosen]
        about = f"{issue.title} {issue.body}"[:QUERY_LIMIT]
        shared = bm25.rare_in_common(about, {note.id: note.text for note in rest})
        enough = [note for note in rest if shared[note.id] >= WORTH]
        by_id = {note.id: note for note in enough}
        chosen += [by_id[hit.note] for hit in by_words(about, enough, FITTING)]
    return chosen[:FITTING]


def learnt(ctx: Context, actor: str, numbers: Collection[int | None]) -> list[Note]:
    """Return the active notes from an issue, or from an actor's work without one."""
    active = notes.active(ctx.ws, notes.read_all(ctx.store.snapshot())[0])
    if set(numbers) == {None}:
        return [note for note in active if note.issue is None and note.by.name == actor]
    return [note for note in active if note.issue in numbers]


def reindex(ctx: Context, knowledge: KnowledgeBase) -> IndexUpdate:
    """Update the index to the active notes; safe to repeat. Raises KnowledgeError."""
    return knowledge.index(notes.active(ctx.ws, notes.read_all(ctx.store.snapshot())[0]))
