"""Find notes through mem0; none of its errors leaves this module.

mem0 is only an index of the notes, so a broken one is deleted and rebuilt. One process at a time
opens the store, under our lock, for about ten milliseconds.
"""

import contextlib
import shutil
import uuid
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files, progress
from ghp_agents.core.errors import GhpError
from ghp_agents.core.finding import Finding
from ghp_agents.core.ids import count, digest, one_line
from ghp_agents.notes.note import Note
from ghp_agents.notes.search import bm25, embedder, thesaurus
from ghp_agents.notes.search.mem0_config import STORE, fingerprint, open_memory, prepare
from ghp_agents.notes.search.result import Engines, Hit, IndexUpdate, KnowledgeError
from ghp_agents.notes.search.stale_indexes import forget_elsewhere
from ghp_agents.notes.search.text import best

LOCK = "index.lock"
TIMEOUT_S = 20.0  # seconds
FEW = 8  # notes that are embedded at once, with the store open
BATCH = 256  # notes that are embedded together, with the store closed for others to use
POOL = 60  # candidates that are ranked by more than their vectors
NAMED = 0.2  # weight of having all identifiers of the question; a vector has 1
MEANT = 0.2  # weight of being about the same things; fits the cosines of the local model
MOST = 1_000_000  # notes that are listed
_POINTS = uuid.UUID("6f1d1c5e-0a0f-5c0c-9a52-1f3d1a9b7c11")  # never changes: point ids need it


class Mem0Base:
    """`ports.KnowledgeBase` on mem0; `scope` is the user that mem0 keeps the notes for."""

    def __init__(
        self,
        folder: Path,
        scope: str,
        engines: Engines,
        *,
        hashes: bool = False,
        shortcomings: Sequence[Finding] = (),
    ) -> None:
        self._folder = folder
        self._scope = scope
        self._engines = engines
        self._hashes = hashes
        self._shortcomings = tuple(shortcomings)

    def index(self, notes: Sequence[Note]) -> IndexUpdate:
        """Update the index to the notes; unchanged ones are skipped."""
        with _wrap_errors("The search index cannot be updated"):
            self._prepare()
            return self._update(notes)

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> list[Hit]:
        """Return the notes nearest to the query in meaning and identifiers."""
        with _wrap_errors("The notes cannot be searched"):
            self._prepare()
            hits = self._search_index(query, notes, limit, among)
            if hits is None:
                self._update(notes)
                hits = self._search_index(query, notes, limit, among, force=True)
            return hits or []

    def extract_facts(self, text: str) -> list[str]:
        """Return the facts that the language model finds, if `infer` is set; else the text."""
        if not self._engines.infer:
            return [text]
        with _wrap_errors("The language model did not answer"):
            self._prepare()
            with self._open_store() as memory:
                # The next update of the index removes these drafts.
                marks = {"ghp": "draft"}
                answer = memory.add(text, user_id=self._scope, metadata=marks, infer=True)
        facts = (str(item.get("memory") or "").strip() for item in answer.get("results") or ())
        distinct = [fact for fact in dict.fromkeys(facts) if fact]
        if not distinct:
            raise KnowledgeError(
                "The language model found no facts, or its answer was invalid. Nothing was stored.",
                hint="To store the text as it is, add `--verbatim`.",
            )
        return distinct

    def health(self) -> Sequence[Finding]:
        """Return what it could do better."""
        return self._shortcomings

    def _prepare(self) -> None:
        """Do what takes long before taking the lock."""
        self._place.mkdir(parents=True, exist_ok=True)
        prepare(self._folder)
        if self._engines.embedder is None and not self._hashes:
            from ghp_agents_recall import minilm

            minilm.load_model()

    @property
    def _place(self) -> Path:
        return self._folder / fingerprint(self._engines, hashes=self._hashes)

    @contextlib.contextmanager
    def _open_store(self) -> Iterator[Any]:
        """Open mem0, with its store locked."""
        with files.locked_for_long(self._folder / LOCK, timeout=TIMEOUT_S):
            memory = self._open()
            try:
                yield memory
            finally:
                client = getattr(memory.vector_store, "client", None)
                if client is not None and hasattr(client, "close"):
                    client.close()
                memory.close()

    def _open(self) -> Any:
        try:
            return self._memory()
        except Exception:
            # Nobody else has it open now. If it is ours, a crash may have damaged it.
            torn = self._place / STORE
            if self._engines.store or not torn.exists():
                raise
            shutil.rmtree(torn)
        return self._memory()

    def _memory(self) -> Any:
        return open_memory(self._place, self._scope, self._engines, hashes=self._hashes)

    def _update(self, notes: Sequence[Note]) -> IndexUpdate:
        with self._open_store() as memory:
            todo = _differences(notes, self._list_index(memory))
            for point in (*todo.gone, *todo.stale):
                memory.vector_store.delete(vector_id=point)
            forget_elsewhere(self._place, self._scope, {note.id for note in notes})
            is_quick = len(todo.missing) <= FEW or self._engines.embedder is not None
            if is_quick:
                self._insert(memory, todo.missing, self._vectors(memory, todo.missing))
        for start in range(0, 0 if is_quick else len(todo.missing), BATCH):
            progress.note(f"{start} of {count(len(todo.missing), 'note')}")
            some = todo.missing[start : start + BATCH]
            vectors = self._vectors(None, some)  # others may use the store meanwhile
            with self._open_store() as memory:
                self._insert(memory, some, vectors)
        changed = len(todo.stale)
        return IndexUpdate(len(notes), len(todo.missing) - changed, changed, len(todo.gone))

    def _list_index(self, memory: Any) -> dict[str, tuple[str, str]]:
        """Return our entries of the index: by point the note's id and its text's digest."""
        listed = memory.vector_store.list(filters={"user_id": self._scope}, top_k=MOST)
        rows = listed[0] if listed and isinstance(listed[0], list) else listed
        if isinstance(rows, tuple):
            rows = rows[0]
        payloads = {str(row.id): row.payload or {} for row in rows or ()}
        return {
            point: (str(payload.get("note", "")), str(payload.get("mark", "")))
            for point, payload in payloads.items()
            if payload.get("ghp")
        }

    def _insert(self, memory: Any, notes: Sequence[Note], vectors: Sequence[list[float]]) -> None:
        if notes:
            memory.vector_store.insert(
                vectors=list(vectors),
                payloads=[_payload(note, self._scope) for note in notes],
                ids=[_point(note) for note in notes],
            )

    def _vectors(self, memory: Any, notes: Sequence[Note]) -> list[list[float]]:
        texts = [note.text for note in notes]
        if self._engines.embedder is None:
            kind = embedder.HashedWords if self._hashes else embedder.LocalModel
            return kind(None).embed_batch(texts)
        model = memory.embedding_model
        vectors: list[list[float]] = model.embed_batch(texts, "add") if texts else []
        return vectors

    def _search_index(
        self,
        query: str,
        notes: Sequence[Note],
        limit: int,
        among: Collection[str] | None,
        *,
        force: bool = False,
    ) -> list[Hit] | None:
        """Return the hits; None if the index differs from the notes, unless `force` is set."""
        with self._open_store() as memory:
            if not force and _differences(notes, self._list_index(memory)) != _NOTHING:
                return None
            answer = memory.search(
                query,
                top_k=max(limit, POOL) if among is None else len(notes),
                filters={"user_id": self._scope},
                threshold=0.0,
            )
        scores = {
            str((hit.get("metadata") or {}).get("note")): float(hit["score"])
            for hit in answer["results"]
        }
        hits = _add_name_scores(query, notes, scores, among)
        if self._engines.embedder is None and not self._hashes:
            hits = _add_thing_scores(query, {note.id: note.text for note in notes}, hits)
        return best(hits, limit)


class _Todo(NamedTuple):
    """The differences between an index and the notes."""

    missing: Sequence[Note] = ()  # new and changed notes
    stale: Sequence[str] = ()  # points of changed notes
    gone: Sequence[str] = ()  # points of deleted notes


_NOTHING = _Todo()


def _differences(notes: Sequence[Note], indexed: dict[str, tuple[str, str]]) -> _Todo:
    wanted = {_point(note): note for note in notes}
    missing = tuple(
        note for point, note in wanted.items() if indexed.get(point, ("", ""))[1] != _mark(note)
    )
    stale = tuple(point for note in missing if (point := _point(note)) in indexed)
    return _Todo(missing, stale, tuple(point for point in indexed if point not in wanted))


def _point(note: Note) -> str:
    return str(uuid.uuid5(_POINTS, note.id))


def _mark(note: Note) -> str:
    return digest(note.text, note.kind, str(note.issue))


def _payload(note: Note, scope: str) -> dict[str, Any]:
    """Return the payload: what mem0 needs to show it, and what we need to identify it."""
    return {
        "user_id": scope,
        "data": note.text,
        "hash": _mark(note),
        "created_at": note.at,
        "updated_at": note.changed.at if note.changed else note.at,
        "text_lemmatized": note.text,
        "ghp": "note",
        "note": note.id,
        "mark": _mark(note),
        "kind": note.kind,
        "issue": note.issue,
    }


def _add_name_scores(
    query: str, notes: Sequence[Note], scores: dict[str, float], among: Collection[str] | None
) -> list[Hit]:
    """Add a score for shared identifiers: vectors represent them worst."""
    names = bm25.names(query)
    least = min(scores.values(), default=0.0)
    hits: list[Hit] = []
    for note in notes:
        if among is not None and note.id not in among:
            continue
        shared = bm25.shared_names(names, note.text)
        if note.id in scores or shared:
            hits.append(Hit(note.id, scores.get(note.id, least) + NAMED * shared))
    return hits


def _add_thing_scores(query: str, texts: Mapping[str, str], hits: Sequence[Hit]) -> list[Hit]:
    """Add the thesaurus's score, for synonyms that vectors do not see as near."""
    ours = thesaurus.load()
    wanted = ours.things(query)
    near = (thesaurus.nearness(wanted, ours.things(texts[hit.note])) for hit in hits)
    return [Hit(hit.note, hit.score + MEANT * some) for hit, some in zip(hits, near, strict=True)]


@contextlib.contextmanager
def _wrap_errors(what: str) -> Iterator[None]:
    """Turn the errors of any configured engine into KnowledgeError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except GhpError:
        raise
    except Exception as error:
        why = one_line(f"{type(error).__name__}: {error}", 300)
        raise KnowledgeError(
            f"{what}: {why}",
            hint="Run `ghp agent-doctor` to check the set-up. `agents.memory` in "
            "~/.config/ghp-cli/config.json names the engines.",
        ) from error
