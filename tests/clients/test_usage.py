"""What the real clients report of their use, as `agent-report --cost` shows it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.steps import edit, run, set_up, shell, start
from tests.support.client_starts import STARTS
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Turn

pytestmark = pytest.mark.slow


def costs(repo: Path) -> Any:
    return json.loads(run("agent-report", "--cost", "--json", cwd=repo))


def test_the_tokens_of_claude_code_are_those_that_it_counts_itself(
    bench: Bench, repo: Path
) -> None:
    set_up(bench, repo, "claude")
    run("agent-issue", "new", "Parse tabs", cwd=repo)
    run("agent-claim", "1", cwd=repo)
    write = Call("Write", {"file_path": str(repo / "a.txt"), "content": "a\n"})
    bench.models.script("one", Turn("An answer of two blocks.", [write]), Turn("All done."))
    ended = end(bench.claude(repo, "one"))
    assert ended.code == 0, ended.err
    own = ended.result["usage"]
    found = costs(repo)
    (issue,) = found["issues"]
    assert (issue["issue"], issue["agents"], issue["usd"]) == (1, ["worker-1"], None)
    assert (issue["inputTokens"], issue["outputTokens"]) == (20, 10)
    assert (own["input_tokens"], own["output_tokens"]) == (20, 10)
    going_on = end(bench.claude(repo, "one", "--resume", ended.result["session_id"]))
    assert going_on.code == 0, going_on.err
    assert costs(repo)["total"]["inputTokens"] == 20 + going_on.result["usage"]["input_tokens"]


def test_the_sub_agents_of_claude_code_count_with_their_session(bench: Bench, repo: Path) -> None:
    set_up(bench, repo, "claude")
    helper = {"description": "Help", "prompt": "Help me.", "subagent_type": "general-purpose"}
    bench.models.script("one", Turn(calls=[Call("Agent", helper)]), Turn("All done."))
    write = Call("Write", {"file_path": str(repo / "a.txt"), "content": "a\n"})
    bench.models.script("one", Turn(calls=[write]), Turn("Helped."), prompt="Help me.")
    ended = end(bench.claude(repo, "one"))
    assert ended.code == 0, ended.err
    own = ended.result["modelUsage"].values()
    mine = costs(repo)["agents"][0]
    assert [each for each in bench.models.requests("one") if each.prompt == "Help me."]
    assert mine["outputTokens"] == sum(used["outputTokens"] for used in own)
    assert mine["inputTokens"] == sum(used["inputTokens"] for used in own)


# For each client that has sub-agents, how its model calls one.
HELPERS = {
    "copilot": Call(
        "task",
        {
            "name": "helper", "agent_type": "general-purpose", "description": "Help",
            "prompt": "Help me.", "mode": "sync",
        },
    ),
    "opencode": Call(
        "task", {"description": "Help", "prompt": "Help me.", "subagent_type": "general"}
    ),
    "qwen": Call(
        "agent", {"subagent_type": "general-purpose", "description": "Help", "prompt": "Help me."}
    ),
}  # fmt: skip


@pytest.mark.parametrize("client", ["copilot", "gemini", "opencode", "pi", "qwen"])
def test_the_tokens_of_a_client_are_those_that_its_models_report(
    bench: Bench, repo: Path, client: str
) -> None:
    set_up(bench, repo, client)
    calls = [edit(client, repo / "new.txt"), shell(client, "true"), HELPERS.get(client)]
    turns = [Turn(calls=[call], tokens=100, cached=40, written=7) for call in calls if call]
    helped = [Turn("Helped.", tokens=50)] if client in HELPERS else []
    bench.models.script("one", *turns, *helped, Turn("All done.", tokens=300, written=5))
    ended = end(start(bench, client, repo, "one"))
    assert ended.code == 0, ended.err
    mine = costs(repo)["agents"][0]
    names = ("agent", "client", "usd", "inputTokens", "cachedTokens", "outputTokens")
    found = [350, 120, 26] if helped else [200, 80, 19]
    found[0] += 300
    assert [mine[name] for name in names] == ["worker-1", client, None, *found]


def test_a_session_of_copilot_that_another_agent_resumes_counts_from_there(
    bench: Bench, repo: Path
) -> None:
    set_up(bench, repo, "copilot")
    bench.models.script("one", Turn("Done.", tokens=200))
    assert end(start(bench, "copilot", repo, "one")).code == 0
    run("agent-init", "--agent", "worker-7", cwd=repo)
    bench.models.script("two", Turn("Again.", tokens=50))
    (file,) = (bench.home / ".copilot/session-state").glob("*/events.jsonl")
    begun = STARTS["copilot"](bench.models.url, "two", "Go on.")
    command = [*bench.command("copilot"), *begun.args, "--resume", file.parent.name]
    subprocess.run(command, cwd=repo, env={**os.environ, **begun.env, "PWD": str(repo)}, check=True)
    found = {each["agent"]: each["inputTokens"] for each in costs(repo)["agents"]}
    assert found == {"worker-1": 200, "worker-2": None, "worker-7": 50}


def test_the_tokens_of_codex_are_those_that_it_counts_itself(bench: Bench, repo: Path) -> None:
    set_up(bench, repo, "codex")
    call = Call("exec_command", {"cmd": "true"})
    bench.models.script("one", Turn("I look.", [call], 200), Turn("All done.", tokens=300))
    ended = end(bench.codex(repo, "one"))
    assert ended.code == 0, ended.err
    (mine, other) = costs(repo)["agents"]
    assert ended.events[-1]["usage"]["input_tokens"] == 500
    names = ("agent", "client", "model", "usd", "inputTokens", "outputTokens")
    assert [mine[name] for name in names] == ["worker-1", "codex", "gpt-5.5", None, 500, 0]
    assert [other[name] for name in names] == ["worker-2", "shell", None, None, None, None]


def test_the_status_line_of_claude_code_reports_money_and_time(bench: Bench, repo: Path) -> None:
    (bench.home / ".claude").mkdir()
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=repo)
    with bench.claude_at_a_terminal(repo, "one") as screen:
        screen.wait_for("worker-1 · idle")
    memory = json.loads((repo / ".git/ghp/agents/worker-1.json").read_text())["local"]["usage"]
    assert {"usd", "apiSeconds", "linesAdded", "linesRemoved"} < memory["statusline"].keys()
