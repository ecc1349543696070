"""Real sessions that rest begin a turn when somebody asks them for work; nobody types anything."""

import contextlib
import json
import os
import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.live import LiveSession
from tests.clients.steps import OTHER, edit, run, set_up
from tests.support.client_starts import STARTS
from tests.support.clients import Bench
from tests.support.fake_models import Request, Turn
from tests.support.terminal import Terminal, terminal

pytestmark = pytest.mark.slow


# Codex asks a user of an older model, once, whether to change it.
ASKED = '\n[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n'


@contextlib.contextmanager
def codex_at_a_terminal(bench: Bench, repo: Path, key: str) -> Iterator[Terminal]:
    """Codex as people have it before them, in a folder that it trusts."""
    config = bench.home / ".codex/config.toml"
    config.write_text(config.read_text() + ASKED)
    command = [*bench.command("codex"), "--dangerously-bypass-approvals-and-sandbox"]
    with terminal(command, repo, {**os.environ, "FAKE_KEY": key}) as screen:
        screen.wait_for("Ask Codex to do anything")
        yield screen


@contextlib.contextmanager
def with_our_plugin(bench: Bench, client: str, repo: Path, key: str) -> Iterator[Terminal]:
    """OpenCode or pi as people have it before them."""
    first = STARTS[client](bench.models.url, key, "")
    for name, content in first.files.items():
        path = bench.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    args = first.args[: first.args.index("--mode")] if client == "pi" else []
    with terminal([*bench.command(client), *args], repo, {**os.environ, **first.env}) as screen:
        screen.wait_for("Ask anything" if client == "opencode" else "ghp-agents")
        yield screen


@contextlib.contextmanager
def at_a_terminal(bench: Bench, client: str, repo: Path) -> Iterator[Terminal]:
    if client == "codex":
        with codex_at_a_terminal(bench, repo, "one") as screen:
            yield screen
    elif client in ("opencode", "pi"):
        with with_our_plugin(bench, client, repo, "one") as screen:
            yield screen
    else:
        with bench.claude_at_a_terminal(repo, "one") as screen:
            screen.wait_for("accept edits")
            yield screen


@pytest.mark.parametrize("client", ["claude", "codex", "opencode", "pi"])
def test_a_resting_session_does_what_another_agent_asks_for(
    bench: Bench, repo: Path, client: str
) -> None:
    set_up(bench, repo, client)
    heard: queue.Queue[str] = queue.Queue()
    review = repo / "review.md"

    def line(request: Request) -> Turn:
        if "task title" in request.said or "Review it" not in request.said:
            return Turn("I stop.")
        heard.put(request.said)
        return Turn("Reviewed.") if review.exists() else Turn(calls=[edit(client, review, "Fine.")])

    bench.models.script("one", *[line] * 9)
    with at_a_terminal(bench, client, repo) as screen:
        screen.type("Begin")
        screen.wait_for("Begin")
        screen.type("\r")
        screen.wait_for("I stop.")
        name = run(
            "agent-send", "worker-1", "Review it", "--kind", "review", cwd=repo, env=OTHER
        ).strip()
        path = f"{Path(bench.command(client)[0]).parent}:{os.environ['PATH']}"
        for _ in range(60):  # until the hook at the end of its turn has run
            run("agent-sync", cwd=repo, env={**OTHER, "PATH": path})
            with contextlib.suppress(queue.Empty):
                said = heard.get(timeout=1)
                break
        else:
            said = heard.get(timeout=60)
        screen.wait_for("Reviewed.")
    assert said.count(f"Review {name} by agent worker-2: «Review it».") == 1
    assert review.read_text() == "Fine.\n"


def test_a_session_in_its_turn_is_not_called_and_hears_after_its_step(
    bench: Bench, repo: Path
) -> None:
    set_up(bench, repo, "claude")
    session = LiveSession(bench, repo, "one")
    session.begin()
    run("agent-send", "worker-1", "Review it", "--kind", "review", cwd=repo, env=OTHER)
    run("agent-sync", cwd=repo, env=OTHER)
    heard = session.look()
    assert heard.context.count("«Review it»") == 1
    assert session.rest().context == ""
    session.close()
    assert "another Claude session" not in bench.models.said("one")
