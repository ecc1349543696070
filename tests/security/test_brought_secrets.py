"""No text takes a secret to the remote or to GitHub, whichever way it comes.

Options and arguments are in `test_typed_secrets.py`. Here are files, standard input, tools for
models, hooks, channels, the environment, the names of branches and files, and the output of checks.
"""

# ruff: noqa: E501 - a row of a table

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ghp_agents.cli.mcp import tools
from ghp_agents.core.errors import GhpError
from ghp_agents.messages.channels.channel import NOTICE
from tests.security.test_typed_secrets import objects, secret
from tests.support import hooks
from tests.support.consent import agree
from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.github import WORKER_1, GitHub
from tests.support.story import Story


class Way(NamedTuple):
    """A way for a text: a command, what is on its standard input, and a file that it reads. `{}`
    is the secret."""

    words: tuple[str, ...]
    stdin: str = ""
    files: tuple[tuple[str, str], ...] = ()


CHANNELS = "channels:\n  general:\n    members: [all]\n"
WAYS = {
    "send, file": Way(("agent-send", "w2", "Hi", "--body-file", "in.md"), "", (("in.md", "is {}\n"),)),
    "send, stdin": Way(("agent-send", "w2", "Hi", "--body-file", "-"), "is {}\n"),
    "send, artifact": Way(("agent-send", "w2", "Hi", "--artifact", "{}.md"), "", (("{}.md", "x"),)),
    "escalate, file": Way(("agent-escalate", "Why?", "--context", "in.txt"), "", (("in.txt", "log {}"),)),
    "escalate, stdin": Way(("agent-escalate", "How?", "--context", "-"), "log {}"),
    "escalate, question": Way(("agent-escalate", "-"), "Is {} right?"),
    "comment": Way(("agent-issue", "comment", "1", "-"), "use {}"),
    "new": Way(("agent-issue", "new", "Two", "--body", "-"), "use {}"),
    "edit": Way(("agent-issue", "edit", "1", "--body", "-"), "use {}"),
    "remember": Way(("agent-remember", "-"), "deploy with {}"),
    "answer": Way(("agent-answer", "E-1", "-"), "it is {}"),
    "jobs, title": Way(("agent-jobs", "import", "j.yaml"), "", (("j.yaml", "- id: J-1\n  title: use {}\n"),)),
    "jobs, files": Way(("agent-jobs", "import", "k.yaml"), "", (("k.yaml", "- id: J-2\n  title: t\n  context_files: ['{}']\n"),)),
    "heartbeat": Way(("agent-heartbeat", "--progress", "--action", "tries {}")),
    "event": Way(("agent-event", "pr-merged", "e.json"), "", (("e.json", '{"branch": "{}", "title": "{}"}'),)),
    "channel of a person": Way(("agent-send", "--written", "--yes", "--as", "@me"), "", ((".ghp/channels/general.md", f"{NOTICE}\n\nuse {{}}\n"),)),
    "task": Way(("agent-tasks", "start", "index", "{}", "--as", "@me")),
    "name of a file": Way(("agent-handoff", "--checkpoint", "--note", "Half"), "", (("{}.txt", "one\n"),)),
    "content of a file": Way(("agent-handoff", "--checkpoint", "--note", "Half"), "", (("notes.txt", "token {}\n"),)),
    "handoff": Way(("agent-handoff", "--checkpoint", "--note", "I used {}")),
}  # fmt: skip


def begins(name: str) -> str:
    """Most of a secret: a text that is cut may hold no more."""
    return secret(name)[:24]


def put(folder: Path, way: Way, token: str) -> tuple[list[str], str]:
    """Write the files of a way; returns its words and its standard input."""
    for name, text in way.files:
        path = folder / name.replace("{}", token)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{}", token))
    return [word.replace("{}", token) for word in way.words], way.stdin.replace("{}", token)


def calls() -> Iterator[tuple[str, list[str]]]:
    """Each tool for models with a secret in each of its texts: a name, and the command's words."""
    for name, tool in tools.TOOLS.items():
        for field, schema in tool.fields.items():
            if schema.get("type") not in ("string", "array") or "enum" in schema:
                continue
            given: dict[str, Any] = {need: _plain(tool.fields[need]) for need in tool.required}
            text = f"text {secret(f'{name} {field}')}"
            if name == "inbox":
                given |= {"act": "done", "ids": ["M-1"]}
            given[field] = [text] if schema["type"] == "array" else text
            try:
                yield f"{name} {field}", tools.command(name, given)
            except GhpError:
                continue  # refused before there is a command


def _plain(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 1, "array": ["1"], "boolean": True}.get(schema["type"], "1")


@pytest.mark.slow
def test_no_file_no_stream_and_no_tool_takes_a_secret_to_the_remote(
    clone: Path, remote: Path
) -> None:
    commit(
        clone, {".ghp/channels.yaml": CHANNELS, ".ghp/tasks/index.md": "---\nrun: 'true'\n---\n"}
    )
    git(clone, "push", "--quiet", "origin", "HEAD")
    agree(clone)
    succeed(clone, "agent-whoami --set worker-1", "agent-issue new One", "agent-claim 1")
    for name, way in WAYS.items():
        words, stdin = put(clone, way, secret(name))
        invoke(words, clone, stdin=stdin)
    done = [*calls()]
    for _, words in done:
        invoke(words, clone)
    invoke("agent-heartbeat --progress", clone, {"GHP_AGENT": secret("environment")})
    invoke(["agent-heartbeat", "--progress", "--as", secret("as")], clone)
    for event in ("PreToolUse-Write", "PreToolUse-Bash"):
        text = hooks.payload(f"claude-{event}", clone)
        text |= {"tool_input": {key: f"x {secret('hook')}" for key in ("command", "description",
                                "file_path", "content")}, "prompt": secret("hook")}  # fmt: skip
        hooks.call("claude", text, clone, {"GHP_AGENT": "worker-1", "HOME": str(clone)})
    git(clone, "switch", "-qc", f"agent/worker-1/{secret('branch')}")
    invoke(["agent-heartbeat", "--progress", "--action", f"{'a ' * 235}{secret('cut')}"], clone)
    invoke("agent-stop --keep worker-1 --reason done", clone)
    succeed(clone, "agent-sync")
    stored = objects(remote)
    names = [*WAYS, *(name for name, _ in done), "environment", "as", "hook", "branch", "cut"]
    assert [name for name in names if begins(name).encode() in stored] == []
    assert b"One" in stored
    assert b"worker-1" in stored
    assert len(done) > 15


@pytest.fixture
def story(github: GitHub) -> Story:
    return Story(github, time.time())


def asked(story: Story) -> str:
    """All that the clients asked GitHub: paths, queries and bodies."""
    said = [one.asked for one in story.github.proxy.exchanges]
    return json.dumps([[one.path, one.query, one.body] for one in said])


@pytest.mark.slow
def test_no_text_takes_a_secret_to_github(story: Story) -> None:
    check = f"echo the check knows {secret('check')}"
    who = story.actor(WORKER_1, "one", "worker-1", checks=[check])
    number = story.github.issue("Blink", body="It blinks.")
    story.ghp(who, "agent-sync")
    here = story.start(who, number)
    for name, way in WAYS.items():
        words, stdin = put(here.folder, way, secret(name))
        story.try_to(here, words) if not stdin else invoke(words, here.folder, stdin=stdin)
    git(here.folder, "clean", "-qfd")
    commit(here.folder, {f"{secret('path')}.py": "A = 1\n"}, f"Add {secret('subject')}")
    story.try_to(here, ["agent-finish"])
    story.settle(here)
    sent = asked(story)
    names = [*WAYS, "check", "path", "subject"]
    assert [name for name in names if begins(name) in sent] == []
    assert "Work of worker-1" in sent
