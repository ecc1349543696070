"""The labelled set is what it says: large enough, and half of it without a word in common."""

import itertools
import re

import pytest

from bench import labels
from bench.labels import HELD_OUT, PARAPHRASE, TUNED, WORDS
from ghp_agents.notes.search.bm25 import terms
from tests.support.thorough import some
from tools import pairs

TEXTS = {note.name: note.text for note in labels.notes()}


SAY_NOTHING = {"one", "out"}  # beside the stop words of the search, which could do with fewer


def content(text: str) -> set[str]:
    """The words of a text that say something, without endings."""
    return set(terms(text.replace("'s", ""))) - SAY_NOTHING


def test_there_are_enough_notes_and_questions_and_each_note_is_asked_for() -> None:
    assert len(TEXTS) == len(labels.notes()) >= 120
    asked = labels.questions()
    assert len({(each.note, each.text) for each in asked}) == len(asked) >= 150
    assert {each.note for each in asked} == set(TEXTS)


def test_half_of_the_questions_share_no_content_word_with_their_note() -> None:
    asked = labels.questions()
    paraphrases = [each for each in asked if each.style == PARAPHRASE]
    assert len(paraphrases) * 2 >= len(asked)
    shared = {each.text: content(each.text) & content(TEXTS[each.note]) for each in paraphrases}
    assert {text: words for text, words in shared.items() if words} == {}


def test_the_other_half_uses_words_of_the_note() -> None:
    for each in labels.questions():
        if each.style == WORDS:
            assert len(content(each.text) & content(TEXTS[each.note])) >= 2, each.text


def test_the_halves_are_about_as_large_and_each_has_both_kinds() -> None:
    for half in (TUNED, HELD_OUT):
        styles = [each.style for each in labels.questions() if each.half == half]
        assert min(styles.count(PARAPHRASE), styles.count(WORDS)) >= 40
        assert abs(len(styles) * 2 - len(labels.questions())) <= 4


def test_all_questions_to_a_note_are_in_one_half() -> None:
    halves = {
        note: {each.half for each in labels.questions() if each.note == note} for note in TEXTS
    }
    assert {note for note, some in halves.items() if len(some) != 1} == set()


def test_the_texts_are_whole_sentences_of_one_line() -> None:
    assert all(re.fullmatch(r"\S.*[.!]", text) for text in TEXTS.values())


@pytest.mark.slow  # many texts of the one against each of the other
def test_what_the_local_model_was_taught_is_not_what_it_is_asked() -> None:
    asked = [each.text for each in labels.questions()]
    known = [content(text) for text in (*TEXTS.values(), *asked)]
    for pair in some([*itertools.chain(*pairs.read())], every=6):
        for text in (pair.note, *pair.near, *pair.far):
            words = content(text)
            assert max(len(words & each) / len(words | each) for each in known) < 0.7, text
