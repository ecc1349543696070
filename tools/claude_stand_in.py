"""Plays Claude Code for the tutorial: calls the installed hooks and takes the steps of its agent.

It is started as `claude PROMPT`. The hooks get the messages that Claude Code sends, and a hook's
refusal is obeyed. A line of output looks like Claude Code's, with less around it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

SETTINGS = Path(".claude/settings.local.json")


class Edit(NamedTuple):
    """Replace a text in a file; without an old text, write the file."""

    path: str
    old: str
    new: str


Step = str | Edit  # a text is a shell command

LINE = '    return [f"{name} {price}" for name, price in MENU.items()]\n'
PRICED = LINE.replace("{price}", "{price} {CURRENCY}")
SORTED = PRICED.replace("MENU.items()", "sorted(MENU.items(), key=lambda item: item[1])")
ORDER = """\
import unittest

import menu


class Order(unittest.TestCase):
    def test_the_cheapest_is_first(self):
        self.assertEqual([line.split()[0] for line in menu.lines()], ["bread", "tea", "soup"])
"""
COMMIT = "git add --all && git commit --quiet --message '{}'"

STEPS: dict[str, list[Step]] = {
    "worker-1": [
        Edit("menu.py", LINE, PRICED),
        "ghp agent-escalate 'Which currency?' --option EUR --option USD --wait",
        Edit("menu.py", "def lines", 'CURRENCY = "EUR"\n\n\ndef lines'),
        Edit("test_menu.py", "soup 4", "soup 4 EUR"),
        COMMIT.format("Show prices with a currency"),
        "ghp agent-finish",
    ],
    "worker-2": [
        Edit("menu.py", LINE, LINE.replace("MENU.items()", "sorted(MENU.items())")),
        Edit("test_order.py", "", ORDER),
        "ghp agent-handoff --to worker-3 --note 'test_order.py is ready. Sort in menu.py when #1 "
        "is on main.'",
    ],
    "worker-3": [
        COMMIT.format("Test the order of the menu"),
        "ghp agent-update",
        Edit("menu.py", PRICED, SORTED),
        COMMIT.format("Sort the menu by price"),
        "ghp agent-finish",
    ],
}


class Session:
    """One session, in the current folder."""

    def __init__(self, agent: str) -> None:
        self._id = f"00000000-0000-4000-8000-{agent.encode().hex():0>12.12}"
        self._hooks = json.loads(SETTINGS.read_text())["hooks"]
        self._env = {**os.environ, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": self._id}

    def play(self, prompt: str, steps: list[Step]) -> None:
        """Take the steps, between the events of a session with one prompt."""
        self._event("SessionStart", source="startup")
        self._event("UserPromptSubmit", prompt=prompt)
        for step in steps:
            self._edit(step) if isinstance(step, Edit) else self._run(step)
        self._event("Stop", stop_hook_active=False)
        self._event("SessionEnd", reason="prompt_input_exit")

    def _edit(self, edit: Edit) -> None:
        path = Path.cwd() / edit.path
        tool, given = "Write", {"file_path": str(path), "content": edit.new}
        if edit.old:
            tool = "Edit"
            given = {"file_path": str(path), "old_string": edit.old, "new_string": edit.new}
        say(f"● {tool}({edit.path})")
        reason = self._event("PreToolUse", tool_name=tool, tool_input=given).get(
            "permissionDecisionReason"
        )
        if reason:
            result(f"Refused: {reason}")
        else:
            text = path.read_text() if edit.old else ""
            assert edit.old in text, f"{edit.old!r} is not in {edit.path}:\n{text}"
            path.write_text(text.replace(edit.old, edit.new, 1) if edit.old else edit.new)
            result("Done.")
        self._after(tool, given, "PreToolUse: refused" if reason else "Done.")

    def _run(self, command: str) -> None:
        say(f"● Bash({command})")
        with subprocess.Popen(
            ["bash", "-c", command], env=self._env, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            response = ""
            for line in process.stdout or ():
                result(line)
                response += line
        self._after("Bash", {"command": command}, response)

    def _after(self, tool: str, given: dict[str, str], response: str) -> None:
        call = {"tool_name": tool, "tool_input": given, "tool_response": response}
        self._event("PostToolBatch", tool_calls=[call])

    def _event(self, name: str, **fields: object) -> dict[str, Any]:
        """Call the hooks of an event. Returns what they print for it."""
        message = {"session_id": self._id, "cwd": str(Path.cwd()), "hook_event_name": name} | fields
        output: dict[str, Any] = {}
        for entry in self._hooks.get(name, []):
            if re.search(entry.get("matcher", ""), str(fields.get("tool_name", ""))):
                for hook in entry["hooks"]:
                    done = subprocess.run(
                        [hook["command"], *hook.get("args", [])],
                        input=json.dumps(message), env=self._env, capture_output=True, text=True,
                    )  # fmt: skip
                    output |= json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
        return output


def say(text: str) -> None:
    """Print a line."""
    print(text, flush=True)


def result(text: str) -> None:
    """Print what a tool returned, indented."""
    for line in text.splitlines():
        say(f"  ⎿ {line}".rstrip())


def main(prompt: str) -> None:
    """Play the agent whose name `agent-start --run` gives."""
    agent = os.environ["GHP_AGENT"]
    say(f"> {prompt.splitlines()[0]}")
    Session(agent).play(prompt, STEPS[agent])


if __name__ == "__main__":
    main(sys.argv[1])
