"""`python -m bench.knowledge_page`: write docs/knowledge-bench.md from the last results."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import labels, report
from bench.figure import Figure
from bench.report import cells

PAGE = Path(__file__).parents[1] / "docs/knowledge-bench.md"
SEARCHES = ("our default", "mem0 with hashed vectors", "plain text", "grep")
MEASURES = ("recall@1", "recall@3", "recall@5", "MRR")

TEXT = """\
# How well notes are found

`python -m bench knowledge` measures this again, `python -m bench.knowledge_page` writes this page
from the results. Measured {date}: {machine}.

## What is asked

{notes} engineering notes of one project and {questions} questions, each answered by one note
(`bench/labelled/`). Half of the questions, the *paraphrases*, share no content word with their
note; a test holds that. The other half use words of the note. The set was written and committed
before anything was measured, and is not changed since, so it is no easier for one search than for
another.

## What is found

Of all questions (of the paraphrases alone):

{quality}

The targets for our default are recall@1 ≥ 0.85 and recall@3 ≥ 0.95 over all questions. {verdict}

Questions that use words of their note are answered by every search. For what is said in other
words, only vectors with meaning help, and what is missed there is mostly beyond this model: it does
not see that a handheld reader in a warehouse is the barcode scanner, or that macOS is on a laptop
of Apple's. Tried on this set and left: ranks of words and vectors fused (recall@1 0.50), BM25 added
to the cosine (0.61 to 0.73), vectors of clauses beside those of notes (0.74 to 0.76), late
interaction over tokens (0.65 to 0.75), pooling over several layers or by rarity (0.59 to 0.74),
corrections for notes that are near to everything (0.72 to 0.75), questions in several wordings
(0.73 to 0.75), and all of these together (at most 0.77, with recall@3 falling). A person who needs
more names a larger embedder (`docs/knowledge.md`).

## What it costs

{cost}

`import mem0` is the floor of every cold search through it. An index is made once, and a note is
embedded once in each clone. Beyond some thousand notes the local store is opened noticeably slower,
because it is read as a whole; a server (pgvector, Qdrant) is for those who have so many.
"""


def main() -> None:
    """Write the page."""
    results = json.loads(Path(sys.argv[1] if sys.argv[1:] else report.RESULTS).read_text())
    figures = [_figure(each) for each in results["figures"] if each["row"] == "knowledge"]
    PAGE.write_text(page(figures, results["machine"], results["at"]), encoding="utf-8")


def page(figures: Sequence[Figure], machine: Mapping[str, Any], at: str) -> str:
    """The page."""
    ours = [each for each in figures if each.name.endswith(SEARCHES[0]) and each.bound]
    missed = [each for each in ours if not each.holds]
    said = " and ".join(f"{each.name.partition(':')[0]} is {each.measured:.2f}" for each in missed)
    return TEXT.format(
        date=at[:10],
        machine=", ".join(f"{name} {value}" for name, value in machine.items()),
        notes=len(labels.notes()),
        questions=len(labels.questions()),
        quality=_quality({each.name: each for each in figures}),
        verdict=f"They are missed: {said}." if missed else "They are met.",
        cost=_cost([each for each in figures if ": " not in each.name]),
    )


def _quality(by_name: Mapping[str, Figure]) -> str:
    lines = [f"| | {' | '.join(MEASURES)} |", f"|---|{'---|' * len(MEASURES)}"]
    for search in SEARCHES:
        found = [by_name[f"{measure}: {search}"] for measure in MEASURES]
        shown = [f"{each.measured:.2f} ({each.detail[labels.PARAPHRASE]:.2f})" for each in found]
        lines.append(f"| {search} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _cost(figures: Sequence[Figure]) -> str:
    rows = [f"| {' | '.join(cells(each)[1:])} |" for each in figures]
    return "\n".join(["| what | measured | bound | | from |", "|---|---|---|---|---|", *rows])


def _figure(said: Mapping[str, Any]) -> Figure:
    return Figure(
        said["row"], said["name"], said["measured"], said["unit"], said["bound"],
        said["atLeast"], said["note"], said["detail"],
    )  # fmt: skip


if __name__ == "__main__":
    main()
