"""The knowledge base in memory does what every one does, and what a test tells it."""

import pytest

from ghp_agents.notes.search.result import IndexUpdate, KnowledgeError
from ghp_agents.ports import KnowledgeBase
from tests.contracts.knowledge_base import ALL, KnowledgeBaseContract
from tests.support.twins.notes import MemoryBase


class TestMemoryBase(KnowledgeBaseContract):
    @pytest.fixture
    def base(self) -> KnowledgeBase:
        return MemoryBase()


def test_it_counts_what_it_took() -> None:
    base = MemoryBase()
    assert base.index(ALL) == IndexUpdate(3, added=3)
    assert base.index([ALL[0]._replace(text="new"), ALL[1]]) == IndexUpdate(2, changed=1, removed=1)


def test_it_finds_the_facts_that_a_test_says_are_there() -> None:
    assert MemoryBase(["One", "Two"]).extract_facts("One and two") == ["One", "Two"]
    with pytest.raises(KnowledgeError):
        MemoryBase([]).extract_facts("One and two")
