"""`agents.memory`: a person names engines, a repository only its project."""

import pytest

from ghp_agents.settings.memory_schema import trusted

ENGINE = {"provider": "ollama"}


@pytest.mark.parametrize(
    ("is_persons", "kept"),
    [
        (True, {"project": "shop", "llm": ENGINE, "vector_store": ENGINE}),
        (False, {"project": "shop", "ignored": ["llm", "vectorStore"]}),
    ],
)
def test_only_a_person_names_engines(is_persons: bool, kept: dict[str, object]) -> None:
    memory = {"project": "shop", "llm": ENGINE, "vector_store": ENGINE}
    assert trusted(memory, is_persons=is_persons) == kept
