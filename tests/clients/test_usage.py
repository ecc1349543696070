"""What the real clients report of their use, as `agent-report --cost` shows it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.steps import TRUSTED, run, set_up
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


def test_the_tokens_of_codex_are_those_that_it_counts_itself(bench: Bench, repo: Path) -> None:
    set_up(bench, repo, "codex")
    call = Call("exec_command", {"cmd": "true"})
    bench.models.script("one", Turn("I look.", [call], 200), Turn("All done.", tokens=300))
    ended = end(bench.codex(repo, "one", TRUSTED))
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
