"""Answers that are kept: found again by their address, broken ones forgotten, never too many."""

from pathlib import Path

import pytest

from ghp_agents.github.api import cache
from ghp_agents.github.api.cache import Cache, CachedAnswer, FactsCache, UnreadableIssues
from tests.support.clock import ManualClock

ONE = CachedAnswer("https://x/issues?page=1", '"abc"', {"link": "<y>; rel=next"}, [{"id": 1}])


def test_an_answer_is_found_by_its_whole_address(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "answers")
    kept.write(ONE)
    assert kept.read(ONE.url) == ONE
    assert kept.read("https://x/issues?page=2") is None
    kept.write(ONE._replace(etag='"def"', body=[]))
    assert kept.read(ONE.url) == ONE._replace(etag='"def"', body=[])


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"url": "https://x/issues?page=1"}', b"[" * 100_000]
)
def test_a_broken_file_is_no_answer(tmp_path: Path, content: bytes) -> None:
    kept = Cache(tmp_path)
    kept.write(ONE)
    [file] = tmp_path.iterdir()
    file.write_bytes(content)
    assert kept.read(ONE.url) is None


def test_an_empty_answer_that_an_older_version_kept_is_asked_for_again(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    kept.write(ONE._replace(body=None))
    assert kept.read(ONE.url) is None


def test_a_folder_that_cannot_be_made_keeps_nothing_and_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = Cache(tmp_path / "file" / "answers")
    kept.write(ONE)
    kept.touch(ONE.url)
    assert kept.read(ONE.url) is None


def test_the_answers_that_were_of_no_use_for_longest_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setattr(cache, "MOST_FILES", 3)
    kept = Cache(tmp_path)
    entries = [ONE._replace(url=f"https://x/{number}") for number in range(4)]
    for age, entry in enumerate(entries[:3]):
        kept.write(entry)
        [new] = [path for path in tmp_path.iterdir() if path.stat().st_mtime > 1_000_000]
        os.utime(new, (age, age))
    kept.touch(entries[0].url)
    kept.write(entries[3])
    assert [kept.read(entry.url) is not None for entry in entries] == [True, False, True, True]


def test_together_they_never_grow_beyond_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 5_000)
    kept = Cache(tmp_path)
    for number in range(20):
        kept.write(ONE._replace(url=f"https://x/{number}", body="x" * 1_000))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 5_000
    assert len(list(tmp_path.iterdir())) == 4


# ------------------------------------------------------------------------------------------- facts


def test_a_fact_is_known_for_its_time(tmp_path: Path) -> None:
    clock = ManualClock()
    facts = FactsCache(tmp_path / "facts.json", clock)
    facts.put("a", True, keep=100)
    clock.wait(59)
    assert FactsCache(tmp_path / "facts.json", clock).get("a", 60) is True
    clock.wait(1)
    assert facts.get("a", 60) is None
    assert facts.get("b", 60) is None


def test_a_fact_of_the_future_is_none(tmp_path: Path) -> None:
    facts = FactsCache(tmp_path / "facts.json", ManualClock(2_000.0))
    facts.put("a", 1, keep=100)
    assert FactsCache(tmp_path / "facts.json", ManualClock(1_000.0)).get("a", 1e9) is None


def test_old_facts_are_dropped_when_a_new_one_comes(tmp_path: Path) -> None:
    clock = ManualClock()
    facts = FactsCache(tmp_path / "facts.json", clock)
    facts.put("a", 1, keep=100)
    clock.wait(100)
    facts.put("b", 2, keep=100)
    assert facts.get("a", 1e9) is None
    assert facts.get("b", 1e9) == 2


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": [1, "x"]}', '{"a": [1]}'])
def test_a_broken_file_knows_nothing_and_is_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(content)
    facts = FactsCache(path, ManualClock())
    assert facts.get("a", 1e9) is None
    facts.put("b", 2, keep=10)
    assert facts.get("b", 1) == 2


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    facts = FactsCache(tmp_path / "file/facts.json", ManualClock())
    facts.put("a", 1, keep=10)
    assert facts.get("a", 10) is None


# ------------------------------------------------------------------------------- unreadable issues


def test_unreadable_issues_are_remembered_for_their_repository(tmp_path: Path) -> None:
    UnreadableIssues(tmp_path, "a/b").store({7: "no title", 2: "no number"})
    assert UnreadableIssues(tmp_path, "a/b").load() == {2: "no number", 7: "no title"}
    assert UnreadableIssues(tmp_path, "a/c").load() == {}
    (tmp_path / "hub/unread.json").write_text("[")
    assert UnreadableIssues(tmp_path, "a/b").load() == {}
