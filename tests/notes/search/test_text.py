"""Plain text search does what every knowledge base does, and needs nothing for it."""

import subprocess
import sys

import pytest

from ghp_agents.core.finding import warning
from ghp_agents.notes.search.result import Hit
from ghp_agents.notes.search.text import TextBase, best
from ghp_agents.ports import KnowledgeBase
from tests.contracts.knowledge_base import KnowledgeBaseContract


class TestTextBase(KnowledgeBaseContract):
    @pytest.fixture
    def base(self) -> KnowledgeBase:
        return TextBase([warning("knowledge", "There is better.", "Install it.")])


def test_of_equal_hits_the_same_is_always_first() -> None:
    hits = [Hit("b", 1.0), Hit("a", 1.0), Hit("c", 2.0)]
    assert best(hits, 2) == best(hits[::-1], 2) == [Hit("c", 2.0), Hit("a", 1.0)]


def test_it_imports_nothing_beyond_the_core() -> None:
    code = (
        "import sys; before = set(sys.modules); import ghp_agents.notes.search.text;"
        "print(*{n.partition('.')[0] for n in set(sys.modules) - before"
        " if n.partition('.')[0] not in sys.stdlib_module_names})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ghp_agents"]
