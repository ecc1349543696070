"""The stand-in for Claude Code obeys hooks as Claude Code does."""

import json
import sys
from pathlib import Path

import pytest

from tools import claude_stand_in
from tools.claude_stand_in import Edit, Session

HOOK = """\
import json, sys
event = json.load(sys.stdin)
with open("events", "a") as events:
    print(event["hook_event_name"], event.get("tool_name", "-"), file=events)
if event.get("tool_input", {}).get("file_path", "").endswith("/theirs"):
    reason = {"permissionDecision": "deny", "permissionDecisionReason": "It is leased."}
    print(json.dumps({"hookSpecificOutput": reason}))
"""


@pytest.mark.slow
def test_a_refused_edit_is_not_made_and_every_event_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    hook = {"hooks": [{"command": sys.executable, "args": ["-c", HOOK]}]}
    events = ("SessionStart", "UserPromptSubmit", "PostToolBatch", "Stop", "SessionEnd")
    hooks = {name: [hook] for name in events} | {"PreToolUse": [hook | {"matcher": "Edit|Write"}]}
    claude_stand_in.SETTINGS.parent.mkdir()
    claude_stand_in.SETTINGS.write_text(json.dumps({"hooks": hooks}))
    Path("theirs").write_text("one two\n")
    Path("mine").write_text("one two\n")
    Session("worker-1").play(
        "Do it.", [Edit("theirs", "two", "three"), Edit("mine", "two", "three"), "echo $CLAUDECODE"]
    )
    assert Path("theirs").read_text() == "one two\n"
    assert Path("mine").read_text() == "one three\n"
    assert (
        capsys.readouterr().out
        == """\
● Edit(theirs)
  ⎿ Refused: It is leased.
● Edit(mine)
  ⎿ Done.
● Bash(echo $CLAUDECODE)
  ⎿ 1
"""
    )
    assert Path("events").read_text().splitlines() == [
        "SessionStart -", "UserPromptSubmit -", "PreToolUse Edit", "PostToolBatch -",
        "PreToolUse Edit", "PostToolBatch -", "PostToolBatch -", "Stop -", "SessionEnd -",
    ]  # fmt: skip
