"""An issue is named by its number, with or without `#`, wherever a command takes one."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke

READ = [
    "agent-issue show {}",
    "agent-explain {}",
    "agent-where {}",
    "agent-log --issue {}",
    "agent-resume --issue {}",
    "agent-status --epic {}",
    "agent-timeline --since 2026-01-01 --issue {}",
]
CHANGED = [
    "agent-claim {}",
    "agent-start {}",
    "agent-issue edit {} --priority low",
    "agent-issue comment {} Hello",
    "agent-issue assign {} worker-2",
    "agent-issue close {} --reason done",
    "agent-escalate Tabs? --issue {}",
    "agent-send worker-2 Hello --issue {}",
    "agent-handoff --issue {} --note later",
]


@pytest.fixture
def one(repo: Path) -> Path:
    invoke(["agent-issue", "new", "Parse files"], repo)
    return repo


@pytest.mark.parametrize("words", READ)
def test_a_number_with_a_hash_is_the_number(one: Path, words: str) -> None:
    plain, hashed = (invoke(words.format(name), one) for name in ("1", "'#1'"))
    assert (hashed.code, hashed.err) == (plain.code, plain.err)
    assert "no issue" not in hashed.err


@pytest.mark.slow
@pytest.mark.parametrize("words", CHANGED)
def test_what_changes_an_issue_takes_both_too(one: Path, words: str) -> None:
    done = invoke(f"{words.format(chr(39) + '#1' + chr(39))} --as worker-1", one)
    assert done.code == 0, done.err
    assert invoke("agent-log --issue 1", one).out.count("#1") > 1
