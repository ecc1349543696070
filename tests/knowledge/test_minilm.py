"""The local model in numpy gives the vectors that the model is known for."""

import math

from ghp_agents.knowledge.embedder import load_model
from tests.support.memory import needs_model


def cosine(one: str, other: str) -> float:
    first, second = load_model().embed([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


@needs_model
def test_vectors_have_length_1_and_384_numbers_whatever_the_text() -> None:
    for text in ("A migration", "", "?", "日本語 🙂 \x00", "word " * 2000):
        (vector,) = load_model().embed([text])
        assert len(vector) == 384
        assert math.isclose(math.sqrt(sum(value * value for value in vector)), 1.0, abs_tol=1e-5)


@needs_model
def test_the_similarities_are_those_that_the_models_authors_give() -> None:
    # From the model card's own example, as sentence-transformers computes them.
    weather, sunny, stadium = (
        "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.",
    )  # fmt: skip
    assert math.isclose(cosine(weather, sunny), 0.6660, abs_tol=1e-4)
    assert math.isclose(cosine(weather, stadium), 0.1046, abs_tol=1e-4)
    assert math.isclose(cosine(sunny, stadium), 0.1411, abs_tol=1e-4)


@needs_model
def test_the_same_text_has_the_same_vector_alone_and_among_others() -> None:
    alone = load_model().embed(["Port 80"])[0]
    assert load_model().embed(["x" * 500, "Port 80", ""])[1] == alone
