"""A run in Claude Code's agent view, with a stand-in for its command."""

import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from ghp_agents.runs.claude_bg import BackgroundClaude, SessionState, TranscriptReader, state_of

ID, SESSION = "89a1a2a9", "89a1a2a9-59a5-41ae"
STAND_IN = """#!/bin/sh
echo "$*" >> "$HOME/calls"
case "$1" in
--bg) echo "backgrounded · 89a1a2a9 · night";;
agents) cat "$HOME/state"; cp "$HOME/next" "$HOME/state";;
esac
"""


def listed(**fields: str) -> str:
    return json.dumps([{"id": "ffff"}, {"id": ID, "sessionId": SESSION, **fields}])


class Desk:
    """A home with the stand-in, and a run's folder."""

    def __init__(self, tmp_path: Path) -> None:
        self.home, self.tree = tmp_path / "home", tmp_path / "tree"
        self.id = uuid4().hex[:12]  # a run's processes are ended by its id, also by other tests
        self.run = tmp_path / "runs" / self.id
        for folder in (self.home / "bin", self.run, self.tree):
            folder.mkdir(parents=True)
        (self.home / "bin/claude").write_text(STAND_IN)
        (self.home / "bin/claude").chmod(0o755)
        self.says(listed(status="busy"), listed(status="idle"))
        (self.run / "prompt.md").write_text("Do it; rm -rf /")
        self.env = {
            **os.environ, "HOME": str(self.home), "GHP_AGENT": "night",
            "GHP_RUN": self.id, "PATH": f"{self.home}/bin:{os.environ['PATH']}",
        }  # fmt: skip
        self.env.pop("CLAUDE_CONFIG_DIR", None)

    def says(self, first: str, then: str) -> None:
        (self.home / "state").write_text(first)
        (self.home / "next").write_text(then)

    def claude(self) -> BackgroundClaude:
        return BackgroundClaude(self.tree, self.env)

    def calls(self) -> list[str]:
        return (self.home / "calls").read_text().splitlines()

    def command(self) -> list[str]:
        module = [sys.executable, "-P", "-m", "ghp_agents.runs.claude_bg"]
        return [*module, "--prompt-file", str(self.run / "prompt.md"), "--model", "opus"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_session_gets_the_prompt_as_one_word_and_the_name_of_its_agent(desk: Desk) -> None:
    assert desk.claude().start("Do it; rm -rf /", ["--model", "opus"]) == ID
    (call,) = desk.calls()
    assert call.startswith("--bg Do it; rm -rf / --permission-mode acceptEdits")
    assert f'"env": {{"GHP_AGENT": "night", "GHP_RUN": "{desk.id}"}}' in call
    assert call.endswith("--name night --model opus")


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"sessionId": "s", "status": "busy", "state": "working"}, SessionState("s")),
        ({"sessionId": "s", "status": "idle", "state": "working"}, SessionState("s", "resting")),
        ({"sessionId": "s", "state": "failed"}, SessionState("s", "failed")),
        ({"state": "blocked", "waitingFor": "permission prompt"},
         SessionState(waits_for="permission prompt")),
        ({"sessionId": 7, "status": None}, SessionState()),
    ],
)  # fmt: skip
def test_the_state_is_read_from_the_list(fields: dict[str, object], state: SessionState) -> None:
    assert state_of(fields) == state


def test_a_session_that_is_not_listed_is_gone_and_nonsense_says_nothing(desk: Desk) -> None:
    desk.says("[]", "nonsense")
    assert desk.claude().state(ID) == SessionState(over="gone")
    assert desk.claude().state(ID) is None


def test_messages_are_read_as_they_are_written(tmp_path: Path) -> None:
    path, reader = tmp_path / "session.jsonl", TranscriptReader()
    assert [*reader.lines(None)] == [*reader.lines(path)] == []
    path.write_text('{"type":"mode"}\n{"type":"assistant","message":{"id":"m"}}\n{"type":"us')
    (line,) = reader.lines(path)
    assert json.loads(line) == {
        "type": "assistant", "message": {"id": "m"}, "parent_tool_use_id": None,
    }  # fmt: skip
    with path.open("a") as file:
        file.write('er","isSidechain":true}\nno JSON\n')
    (line,) = reader.lines(path)
    assert json.loads(line)["parent_tool_use_id"] == "sidechain"


@pytest.mark.slow
@pytest.mark.long
def test_a_run_prints_the_session_and_ends_when_it_rests(desk: Desk) -> None:
    transcript = desk.home / f".claude/projects/-tree/{SESSION}.jsonl"
    transcript.parent.mkdir(parents=True)
    text = [{"type": "text", "text": "I work."}]
    spoken = {"type": "assistant", "message": {"id": "m", "content": text}}
    transcript.write_text(f"{json.dumps(spoken)}\n")
    orphan = desk.run.parent / "ffffffffffff"
    orphan.mkdir()
    (orphan / "run.json").write_text(json.dumps({"path": str(desk.tree)}))
    (orphan / "claude-bg").write_text("0ld")
    done = subprocess.run(
        desk.command(), cwd=desk.tree, env=desk.env, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0] == f"Claude Code has it in the background: `claude attach {ID}`."
    assert [json.loads(line)["type"] for line in lines[1:]] == ["system", "assistant", "result"]
    assert [call for call in desk.calls() if call.startswith("stop")] == ["stop 0ld", f"stop {ID}"]
    assert not [*desk.run.parent.glob("*/claude-bg")]


def test_a_run_that_is_ended_ends_its_session(desk: Desk) -> None:
    desk.says(listed(status="busy"), listed(status="busy"))
    with subprocess.Popen(
        desk.command(), cwd=desk.tree, env=desk.env, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout
        assert "claude attach" in run.stdout.readline()
        run.terminate()
        run.communicate()
    assert run.returncode == 143
    # A question for the state that was under way may write its own line later.
    assert [call for call in desk.calls() if call.startswith("stop")] == [f"stop {ID}"]


def test_a_claude_that_starts_nothing_is_an_error(desk: Desk) -> None:
    (desk.home / "bin/claude").write_text("#!/bin/sh\necho 'Please log in' >&2; exit 1\n")
    done = subprocess.run(
        desk.command(), cwd=desk.tree, env=desk.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["message"] == (
        "Claude Code started no background session: Please log in"
    )
