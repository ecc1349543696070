"""The labelled set: engineering notes, and questions each of which one of them answers.

Half of the questions are paraphrases that share no content word with their note. They were written
before any of this was measured, and not changed since: what is missed is for the search to find.
What the search has to choose (weights) is chosen by the questions to every other note alone, so
that the rest, held out, says what it does with questions that nobody looked at.
"""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "labelled"
PARAPHRASE, WORDS = "paraphrase", "words"
TUNED, HELD_OUT = "tuned", "held out"


class Labelled(NamedTuple):
    """A note of the set."""

    name: str
    kind: str
    text: str


class Question(NamedTuple):
    """A question, and the name of the note that answers it."""

    note: str
    style: str
    text: str

    @property
    def half(self) -> str:
        """Whether weights may be chosen by it: by those to n001, n003, n005 and so on."""
        return TUNED if int(self.note.removeprefix("n")) % 2 else HELD_OUT


def notes() -> list[Labelled]:
    """All notes, in their order."""
    return [Labelled(*line.split("\t")) for line in _lines("notes.tsv")]


def questions() -> list[Question]:
    """All questions, in their order."""
    return [Question(*line.split("\t")) for line in _lines("questions.tsv")]


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()
