"""The labelled set: engineering notes, and questions that each have one note as the answer.

Half of the questions are paraphrases that share no content word with their note. They were written
before the first measurement and not changed since. Weights of the search are tuned only with the
questions to every other note; the rest are held out as a test set.
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
        """Whether it is for tuning (notes n001, n003, n005 …) or held out."""
        return TUNED if int(self.note.removeprefix("n")) % 2 else HELD_OUT


def notes() -> list[Labelled]:
    """All notes, in order."""
    return [Labelled(*line.split("\t")) for line in _lines("notes.tsv")]


def questions() -> list[Question]:
    """All questions, in order."""
    return [Question(*line.split("\t")) for line in _lines("questions.tsv")]


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()
