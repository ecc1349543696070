"""What only OpenCode has: sub-agents in sessions of their own, and parts of messages."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, edit, look, replace, run, set_up, shell, start, states
from tests.support.client_starts import STARTS
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Call, Request, Turn

pytestmark = pytest.mark.slow

HELP = {"description": "Help", "prompt": "Help me.", "subagent_type": "general"}


@pytest.fixture
def here(bench: Bench, repo: Path) -> Path:
    """A hooked repository whose agent is worker-1; worker-2 leases src/."""
    set_up(bench, repo, "opencode")
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    return repo


def test_a_sub_agent_works_as_its_parent_and_our_words_are_not_shown_as_the_users(
    bench: Bench, here: Path
) -> None:
    """All of it in one session, for a start of OpenCode takes seconds."""
    question = ghp("agent-escalate", "'How wide is a tab?'")

    def answered(request: Request) -> Turn:
        (name,) = set(re.findall(r"E-[0-9a-f]{4,}", bench.models.said("one")))
        run("agent-answer", name, "A tab is eight columns.", "--as", "@me", cwd=here)
        return Turn(calls=[look("opencode", here)])

    bench.models.script(
        "one",
        Turn(calls=[edit("opencode", here / "shared.py", "mine")]),
        Turn(calls=[shell("opencode", question)]),
        Turn(calls=[Call("task", HELP)]),
    )
    bench.models.script(
        "one",
        Turn(calls=[look("opencode", here)._replace(input={"filePath": str(here / "shared.py")})]),
        Turn(calls=[replace("opencode", here / "shared.py", "mine", "helped")]),
        Turn(calls=[edit("opencode", here / "src/new.py")]),
        answered,
        Turn("Helped."),
        prompt=HELP["prompt"],
    )
    ended = end(start(bench, "opencode", here, "one"))
    assert ended.code == 0, ended.err

    # It edits its parent's files, and is refused what others hold.
    assert (here / "shared.py").read_text() == "helped\n"
    assert not (here / "src").exists()
    helped = [each for each in bench.models.requests("one") if each.prompt == HELP["prompt"]]
    assert "src/new.py is leased by worker-2" in helped[-1].said
    assert sorted(states(here)) == ["worker-1", "worker-2"]
    # An answer that comes while it works is heard by the agent.
    assert "A tab is eight columns." not in helped[-1].said
    assert bench.models.requests("one")[-1].said.count("A tab is eight columns.") == 1
    # What we add to a message is not shown as the user's words.
    mine, ours = first_message(bench, here, ended.events[0]["sessionID"])
    assert mine == ('"Do it."', False)
    assert ours[0].startswith("ghp-agents coordinates this repository.")
    assert ours[1]


def first_message(bench: Bench, here: Path, session: str) -> list[tuple[str, bool]]:
    """The parts of the first message of a session, and whether each was added to it."""
    first = STARTS["opencode"](bench.models.url, "one", "")
    done = subprocess.run(
        [*bench.command("opencode"), "export", session],
        cwd=here, env={**os.environ, **first.env},
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    parts = json.loads(done.stdout)["messages"][0]["parts"]
    return [(part["text"], part.get("synthetic", False)) for part in parts]
