"""An inbox in which many notes came to one topic."""

import json
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed


@pytest.fixture
def here(repo: Path) -> Path:
    """worker-1, which hears notes on a build, and five of them."""
    succeed(repo, "agent-whoami --set worker-1", "agent-heartbeat", "agent-subscribe 'build.*'")
    succeed(repo, *(f"agent-send @build.step Step{n} --as worker-2" for n in range(5)))
    succeed(repo, "agent-send worker-1 Mine --as worker-2")
    return repo


def subjects(repo: Path, words: str) -> list[str]:
    return [message["subject"] for message in json.loads(invoke(f"{words} --json", repo).out)]


def test_an_inbox_folds_many_notes_to_one_topic(here: Path) -> None:
    done = invoke("agent-inbox", here)
    assert [line.split()[-1] for line in done.out.splitlines()] == ["SUBJECT", "Step4", "Mine"]
    assert done.err == "4 more notes in build.step: `ghp agent-inbox list --topic build.step`.\n"
    assert len(subjects(here, "agent-inbox")) == 6


def test_a_session_reads_one_notice_and_each_note_counts_as_told(here: Path) -> None:
    text = invoke("agent-status", here).out
    assert "Step3" not in text
    assert "«Step4».\nThis is information only.\n4 more notes in build.step: `ghp agent-" in text
    assert "build.step" not in invoke("agent-status", here).out
    assert invoke("agent-inbox", here).err.startswith("No new messages for worker-1.")


@pytest.mark.slow
def test_a_resumed_session_reads_the_same_notice(here: Path) -> None:
    text = invoke("agent-resume", here).out
    assert "Step3" not in text
    assert "- 4 more notes in build.step: `ghp agent-inbox list --topic build.step`.\n" in text
    assert "build.step" not in invoke("agent-resume", here).out


@pytest.mark.slow
def test_a_topic_is_listed_whole_also_what_was_read(here: Path) -> None:
    succeed(here, "agent-status")
    assert subjects(here, "agent-inbox --topic build.step") == [f"Step{n}" for n in range(5)]
    assert subjects(here, "agent-inbox list --topic 'build.*'") == [f"Step{n}" for n in range(5)]
    assert subjects(here, "agent-inbox --topic build.other") == []
    assert invoke("agent-inbox --topic build.other", here).err == "No messages for worker-1.\n"
    assert subjects(here, "agent-inbox --sent --topic build.* --as worker-2")[0] == "Step4"


def test_what_is_no_pattern_of_topics_is_refused(here: Path) -> None:
    code, out, err = invoke("agent-inbox --topic A!", here)
    assert (code, out, err.splitlines()[0]) == (2, "", "Error: 'A!' is not a pattern of topics.")


@pytest.mark.slow
def test_of_several_messages_none_is_done_if_one_is_wrong(here: Path) -> None:
    ids = [
        invoke(f"agent-send worker-1 {subject} --kind {kind} --as worker-2", here).out.strip()
        for subject, kind in (("Parse", "request"), ("Look", "note"))
    ]
    for command in ("done", "fail --reason Why", "claim"):
        done = invoke(["agent-inbox", *command.split(), *ids, "--as", "worker-1"], here)
        assert done.code == 3
        assert f"{ids[1]} is a note: it asks for nothing." in done.err
        assert "✓" not in done.err
