"""Facts that are remembered for their time."""

from pathlib import Path

import pytest

from ghp_agents.core.clock import ManualClock
from ghp_agents.github.api.facts_cache import FactsCache


def test_a_fact_is_known_for_its_time(tmp_path: Path) -> None:
    clock = ManualClock()
    known = FactsCache(tmp_path / "facts.json", clock)
    known.put("a", True, keep=100)
    clock.wait(59)
    assert FactsCache(tmp_path / "facts.json", clock).get("a", 60) is True
    clock.wait(1)
    assert known.get("a", 60) is None
    assert known.get("b", 60) is None


def test_a_fact_of_the_future_is_none(tmp_path: Path) -> None:
    known = FactsCache(tmp_path / "facts.json", ManualClock(2_000.0))
    known.put("a", 1, keep=100)
    assert FactsCache(tmp_path / "facts.json", ManualClock(1_000.0)).get("a", 1e9) is None


def test_old_facts_are_dropped_when_a_new_one_comes(tmp_path: Path) -> None:
    clock = ManualClock()
    known = FactsCache(tmp_path / "facts.json", clock)
    known.put("a", 1, keep=100)
    clock.wait(100)
    known.put("b", 2, keep=100)
    assert known.get("a", 1e9) is None
    assert known.get("b", 1e9) == 2


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": [1, "x"]}', '{"a": [1]}'])
def test_a_broken_file_knows_nothing_and_is_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(content)
    known = FactsCache(path, ManualClock())
    assert known.get("a", 1e9) is None
    known.put("b", 2, keep=10)
    assert known.get("b", 1) == 2


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    known = FactsCache(tmp_path / "file/facts.json", ManualClock())
    known.put("a", 1, keep=10)
    assert known.get("a", 10) is None
