"""Words for the same thing: a text in other words is near, and the list itself is sound."""

import math

import pytest

from ghp_agents.notes.search import thesaurus
from ghp_agents.notes.search.bm25 import STOP_WORDS
from ghp_agents.notes.search.thesaurus import Thesaurus, nearness
from ghp_agents_recall.minilm import THESAURUS

SMALL = Thesaurus([["log in", "sign on", "session"], ["queue", "backlog"], ["session", "meeting"]])


def near(one: str, other: str) -> float:
    return nearness(SMALL.things(one), SMALL.things(other))


def test_other_words_for_the_same_thing_are_near_and_for_another_are_not() -> None:
    assert math.isclose(near("Where do I sign on?", "Nobody logs in"), 1.0)
    assert near("Where do I sign on?", "The backlog") == 0.0


def test_a_phrase_counts_as_a_whole_only() -> None:
    assert SMALL.things("sign the log") == {}
    assert SMALL.things("log in") == {0: 2.0}


def test_a_word_for_several_things_says_less_of_each() -> None:
    assert SMALL.things("session") == {0: 0.5, 2: 0.5}
    assert 0 < near("session", "log in") < near("sign on", "log in")


@pytest.mark.parametrize("text", ["", "?", "the of and", "nothing that it knows"])
def test_a_text_without_such_words_is_near_to_nothing(text: str) -> None:
    assert near(text, text) == 0.0
    assert SMALL.in_other_words(text) == ""


def test_the_other_words_are_for_what_is_meant_most() -> None:
    assert SMALL.in_other_words("sign on to see the backlog") == (
        "log in, sign on, session; queue, backlog"
    )


def test_the_list_has_every_word_in_one_form_and_once_in_a_line() -> None:
    lines = [
        line
        for line in THESAURUS.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert len(lines) == len(set(lines)) > 400
    for line in lines:
        keys = [thesaurus._stems(word) for word in line.split(", ")]
        assert line == line.lower().strip()
        assert len(keys) == len(set(keys)) >= 2, line
        assert () not in keys, line


def test_the_list_has_no_word_that_is_never_looked_up() -> None:
    assert {word for thing in thesaurus.load()._things for word in thing} & STOP_WORDS == set()
