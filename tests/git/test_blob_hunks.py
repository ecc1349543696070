"""Which lines differ between blobs."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.git import blob_hunks, trial_merge
from ghp_agents.git.trial_merge import TrialPlace
from tests.support.git import git


@pytest.fixture
def place(repo: Path, tmp_path: Path) -> TrialPlace:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return trial_merge.open_place(repo / ".git", scratch, trial_merge.programs(repo))


def blob(repo: Path, text: str) -> str:
    return git(repo, "hash-object", "-w", "--stdin", stdin=text)


def hunks(
    repo: Path, place: TrialPlace, old: str, new: str
) -> list[tuple[int, int, int, int, str]]:
    pair = blob(repo, old), blob(repo, new)
    return [hunk[:5] for hunk in blob_hunks.hunks(place, [pair]).get(pair, [])]


def test_lines_count_from_0_and_ends_are_excluded(repo: Path, place: TrialPlace) -> None:
    assert hunks(repo, place, "1\n2\n3\n", "1\nx\ny\n3\n") == [(1, 2, 1, 3, "x\ny")]
    assert hunks(repo, place, "1\n2\n", "0\n1\n2\n") == [(0, 0, 0, 1, "0")]
    assert hunks(repo, place, "1\n2\n", "1\n") == [(1, 2, 1, 1, "")]
    assert hunks(repo, place, "", "1") == [(0, 0, 0, 1, "1")]
    assert hunks(repo, place, "1", "1\n2") == [(0, 1, 0, 2, "1\n2")]


def test_binary_and_equal_blobs_have_none(repo: Path, place: TrialPlace) -> None:
    assert hunks(repo, place, "\0one", "\0two") == []
    assert hunks(repo, place, "same\n", "same\n") == []


def test_long_text_is_cut_and_still_told_apart(repo: Path, place: TrialPlace) -> None:
    old = blob(repo, "")
    pairs = [(old, blob(repo, "x" * 5_000 + end)) for end in "ab"]
    hunks = blob_hunks.hunks(place, pairs)
    first, second = (hunks[pair][0] for pair in pairs)
    assert first.text == second.text == "x" * blob_hunks.TEXT_LIMIT
    assert first.digest != second.digest


LINES = st.lists(st.sampled_from(["a", "b", "@@ -1 +1 @@", "diff --git a/1 b/1", "\\ x", ""]))


@pytest.mark.slow
@given(st.lists(st.tuples(LINES, LINES), max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_the_hunks_lead_from_one_text_to_the_other(
    repo: Path, place: TrialPlace, texts: list[tuple[list[str], list[str]]]
) -> None:
    pairs = [
        (blob(repo, "".join(f"{x}\n" for x in old)), blob(repo, "".join(f"{x}\n" for x in new)))
        for old, new in texts
    ]
    hunks = blob_hunks.hunks(place, pairs)
    for (old, new), pair in zip(texts, pairs, strict=True):
        lines = [*old]
        for hunk in reversed(hunks.get(pair, [])):
            assert hunk.text.split("\n") == (new[hunk.new_start : hunk.new_end] or [""])
            lines[hunk.start : hunk.end] = new[hunk.new_start : hunk.new_end]
        assert lines == new
