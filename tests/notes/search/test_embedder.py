"""Which embedder there is, as mem0 asks for it."""

import math

import pytest

from ghp_agents.notes.search.embedder import HashedWords, LocalModel
from tests.support.memory import needs_model


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_both_embedders_answer_what_mem0_asks() -> None:
    hashes = HashedWords(None)
    assert hashes.embed_batch(["One", "Two"]) == [hashes.embed("One"), hashes.embed("Two", "add")]


@pytest.mark.slow
@needs_model
def test_the_local_one_does_as_well() -> None:
    local = LocalModel(None)
    assert local.embed_batch(["One", "Two"]) == [local.embed("One"), local.embed("Two", "add")]


@pytest.mark.slow
@needs_model
def test_a_question_is_looked_for_in_other_words_as_well() -> None:
    local, question, note = LocalModel(None), "Who may sign off?", "CODEOWNERS approve each merge."
    vectors = {action: local.embed(question, action) for action in ("search", "add")}
    assert math.isclose(math.hypot(*vectors["search"]), 1.0, abs_tol=1e-6)
    near = {action: dot(vector, local.embed(note)) for action, vector in vectors.items()}
    assert near["search"] > near["add"] + 0.05


@needs_model
def test_a_question_without_other_words_is_what_it_is() -> None:
    assert LocalModel(None).embed("xyzzy?", "search") == LocalModel(None).embed("xyzzy?")
