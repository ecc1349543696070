"""Answers that are kept: found again by their address, broken ones forgotten, never too many."""

from pathlib import Path

import pytest

from ghp_agents.github.api import cache
from ghp_agents.github.api.cache import Cache, CachedAnswer

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
