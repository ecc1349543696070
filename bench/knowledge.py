"""Recall over a labelled set, side by side: our default (mem0 with the local model), mem0's store
with hashed vectors, plain text search, and `grep` counting the words of the question. Then a whole
cold `ghp agent-recall` at 1,000 notes against `import mem0` in the same interpreter, what one more
note and one more question cost in a process that has the model, and the memory that it takes."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import labels
from bench.figure import Figure, milliseconds
from bench.labels import Question
from bench.place import Place, open_app
from bench.timing import interleave, process, ratio, times_of, took
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.notes import record as note_record
from ghp_agents.notes.note import Note, identity
from ghp_agents.notes.search import bm25
from ghp_agents.notes.search.mem0 import Mem0Base
from ghp_agents.notes.search.result import Engines
from ghp_agents.notes.search.select import has_mem0, has_model
from ghp_agents.notes.search.text import TextBase
from ghp_agents.ports import KnowledgeBase, Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

COLD, FIRST, THIRD = 2.0, 0.85, 0.95
FOUND = 10  # ranks that count; later ones count as not found
NOW = Timestamp("2026-01-01T00:00:00Z")
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
Search = Callable[[str], Sequence[str]]


def measure(place: Place) -> list[Figure]:
    """Quality, then cost."""
    if not (has_mem0() and has_model()):
        raise RuntimeError("The extra `recall` and the local model are needed: run `make bench`.")
    sizes = (60,) if place.quick else (1_000, 10_000)
    warm = [figure for size in sizes for figure in _warm(place, size)]
    return [
        *_quality(place),
        *_cold(place, sizes[0]),
        *warm,
        *(_memory(place, size) for size in sizes),
    ]


# ------------------------------------------------------------------------------------ quality


def _quality(place: Place) -> list[Figure]:
    known = [_note(label.text, label.kind) for label in labels.notes()]
    names = {note.id: label.name for note, label in zip(known, labels.notes(), strict=True)}
    questions = labels.questions()[:: 10 if place.quick else 1]
    bases: dict[str, KnowledgeBase] = {
        "our default": Mem0Base(place.new("default"), "bench", Engines()),
        "mem0 with hashed vectors": Mem0Base(place.new("hash"), "bench", Engines(), hashes=True),
        "plain text": TextBase(),
    }
    searches: dict[str, Search] = {
        name: partial(_search, base, known, names) for name, base in bases.items()
    }
    searches["grep"] = partial(_grep, _files(place))
    figures: list[Figure] = []
    for name, search in searches.items():
        place.say(f"knowledge: {len(questions)} questions to {name} …")
        ranks = [_rank(search(question.text), question.note) for question in questions]
        figures += _figures(name, questions, ranks)
    return figures


def _search(
    base: KnowledgeBase, known: Sequence[Note], names: dict[str, str], query: str
) -> list[str]:
    return [names[hit.note] for hit in base.search(query, known, FOUND)]


def _files(place: Place) -> Path:
    folder = place.new("grep")
    for note in labels.notes():
        (folder / note.name).write_text(f"{note.text}\n")
    return folder


def _grep(folder: Path, query: str) -> list[str]:
    """Search note files with `grep`: those with most words of the question first."""
    counts: dict[str, int] = {}
    for word in {word for word in query.split() if bm25.terms(word)}:
        command = ["grep", "-r", "-l", "-i", "-F", "-e", word.strip("?.,;:\"'")]
        shown = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        for name in shown.stdout.split():
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:FOUND]


def _rank(found: Sequence[str], wanted: str) -> int:
    return found.index(wanted) + 1 if wanted in found else 0


def _figures(name: str, questions: Sequence[Question], ranks: Sequence[int]) -> list[Figure]:
    is_ours = name == "our default"
    ranked = list(zip(questions, ranks, strict=True))
    parts = {
        part: [rank for question, rank in ranked if part in (question.style, question.half)]
        for part in (labels.PARAPHRASE, labels.WORDS, labels.TUNED, labels.HELD_OUT)
    }

    def figure(what: str, score: Callable[[int], float], bound: float | None) -> Figure:
        means = {part: _mean(map(score, some)) for part, some in parts.items()}
        note = ", ".join(f"{part} {value:.2f}" for part, value in means.items())
        return Figure(
            "knowledge", f"{what}: {name}", _mean(map(score, ranks)), "", bound,
            at_least=True, note=note, detail=means,
        )  # fmt: skip

    return [
        figure("recall@1", lambda rank: rank == 1, FIRST if is_ours else None),
        figure("recall@3", lambda rank: 1 <= rank <= 3, THIRD if is_ours else None),
        figure("recall@5", lambda rank: 1 <= rank <= 5, None),
        figure("MRR", lambda rank: 1 / rank if rank else 0.0, None),
    ]


def _mean(values: "map[float]") -> float:
    some = list(values)
    return sum(some) / len(some) if some else 0.0


# --------------------------------------------------------------------------------------- cost


def _cold(place: Place, count: int) -> list[Figure]:
    repository = _with_notes(place, count)
    env = {**os.environ, "MEM0_DIR": str(place.new("mem0")), "MEM0_TELEMETRY": "False"}
    recall = [sys.executable, "-m", "ghp_agents", "agent-recall", "how do we log in"]
    place.say(f"knowledge: an index of {count} notes …")
    first = process(recall, cwd=repository, env=env)
    cases = {
        "import": partial(process, [sys.executable, "-c", "import mem0"], cwd=repository, env=env),
        "recall": partial(process, recall, cwd=repository, env=env),
    }
    taken = interleave(cases, 1 if place.quick else 12)
    name, unit = f"cold agent-recall, {count:,} notes", "× python -c 'import mem0'"
    recall_ratio = ratio("knowledge", name, taken["recall"], taken["import"], unit, COLD)
    name = f"agent-recall that makes the index, {count:,} notes"
    return [recall_ratio, Figure("knowledge", name, first, "s")]


def _with_notes(place: Place, count: int) -> Path:
    """A repository with `count` notes in its state."""
    repository = place.repository("notes")
    store = open_app(repository).store
    known = [note._replace(project="bench") for note in _many(count)]
    files = tuple((note_record.path_of(note.id), note_record.render(note)) for note in known)

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        clock = snapshot.clock + 1
        return None, [Record("remember", Actor("bench"), "notes", "1" * 12, NOW, clock, files)]

    transact(store, decide)
    return repository


def _warm(place: Place, count: int) -> list[Figure]:
    base, known = _filled(place, count)
    base.search("how do we log in", known, 5)
    rounds = 3 if place.quick else 9
    query = times_of(
        [took(lambda: base.search("how do we log in", known, 5)) for _ in range(rounds)]
    )
    more = [_note(f"One more fact, number {number}") for number in range(rounds)]
    add = times_of([took(partial(base.index, [*known, *more[: n + 1]])) for n in range(rounds)])
    return [
        Figure("knowledge", f"warm {what}, {count:,} notes", milliseconds(taken.median), "ms")
        for what, taken in (("query", query), ("add", add))
    ]


def _memory(place: Place, count: int) -> Figure:
    folder = place.new("rss")
    code = (
        "import sys; from pathlib import Path; from bench.knowledge import _Filled, _many;"
        "from ghp_agents.notes.search.result import Engines;"
        f"b = _Filled(Path({str(folder)!r}), 'bench', Engines()); n = _many({count});"
        "b.index(n) if sys.argv[1:] else b.search('how do we log in', n, 5)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process([sys.executable, "-c", code, "fill"], cwd=folder, env=env)
    command = [sys.executable, "-c", PEAK, sys.executable, "-c", code]
    shown = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return Figure("knowledge", f"memory of a search, {count:,} notes", int(shown) / 1024, "MB")


class _Filled(Mem0Base):
    """Our default, filled with random vectors, as the model takes minutes to compute them."""

    def _vectors(self, memory: Any, notes: Sequence[Note]) -> list[list[float]]:
        if len(notes) == 1:
            return super()._vectors(memory, notes)
        from ghp_agents_recall.minilm import DIMENSIONS

        chance = random.Random(len(notes))
        vectors: list[list[float]] = []
        for _ in notes:
            vector = [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
            size = sum(value * value for value in vector) ** 0.5
            vectors.append([value / size for value in vector])
        return vectors


def _filled(place: Place, count: int) -> tuple[Mem0Base, list[Note]]:
    base, known = _Filled(place.new("filled"), "bench", Engines()), _many(count)
    base.index(known)
    return base, known


def _many(count: int) -> list[Note]:
    """`count` notes: the labelled ones repeated, each with a number."""
    texts = [note.text for note in labels.notes()]
    return [_note(f"{texts[n % len(texts)]} (Part {n} of the shop.)") for n in range(count)]


def _note(text: str, kind: str = "fact") -> Note:
    return Note(identity("bench", text), text, kind, Actor("bench"), NOW, 1, CloneId("bench"))
