"""What a knowledge base answers, and how its set-up is read."""

from ghp_agents.notes.search.result import Engine, Engines, IndexUpdate, engines


def test_nothing_new_is_when_nothing_was_added_changed_or_removed() -> None:
    assert IndexUpdate(7).nothing_new
    assert not any(IndexUpdate(7, *counts).nothing_new for counts in [(1,), (0, 1), (0, 0, 1)])


def test_without_a_word_of_the_configuration_all_engines_are_ours() -> None:
    assert engines({}) == Engines(None, None, None, infer=False)


def test_the_engines_are_as_the_configuration_names_them() -> None:
    values = {
        "embedder": {"provider": "ollama", "config": {"model": "m"}},
        "vector_store": {"provider": "pgvector"},
        "llm": {"provider": "vllm", "config": {}},
        "infer": True,
    }
    assert engines(values) == Engines(
        Engine("ollama", {"model": "m"}), Engine("pgvector", {}), Engine("vllm", {}), infer=True
    )
