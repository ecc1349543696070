"""What only OpenCode has: sub-agents in sessions of their own, and parts of messages."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, edit, look, replace, run, set_up, shell, start, states
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Call, Request, Turn

pytestmark = pytest.mark.slow

HELP = {"description": "Help", "prompt": "Help me.", "subagent_type": "general"}


@pytest.fixture
def here(bench: Bench, repo: Path) -> Path:
    """A hooked repository whose agent is worker-1."""
    set_up(bench, repo, "opencode")
    return repo


def test_a_sub_agent_edits_its_parents_files_and_is_refused_what_others_hold(
    bench: Bench, here: Path
) -> None:
    run("agent-lease", "src/", cwd=here, env=OTHER)
    bench.models.script(
        "one",
        Turn(calls=[edit("opencode", here / "shared.py", "mine")]),
        Turn(calls=[Call("task", HELP)]),
    )
    bench.models.script(
        "one",
        Turn(calls=[look("opencode", here)._replace(input={"filePath": str(here / "shared.py")})]),
        Turn(calls=[replace("opencode", here / "shared.py", "mine", "helped")]),
        Turn(calls=[edit("opencode", here / "src/new.py")]),
        prompt=HELP["prompt"],
    )
    assert end(start(bench, "opencode", here, "one")).code == 0
    assert (here / "shared.py").read_text() == "helped\n"
    assert not (here / "src").exists()
    assert "src/new.py is leased by worker-2" in bench.models.said("one")
    assert sorted(states(here)) == ["worker-1", "worker-2"]


def test_an_answer_that_comes_while_a_sub_agent_works_is_heard_by_the_agent(
    bench: Bench, here: Path
) -> None:
    def answered(request: Request) -> Turn:
        (question,) = set(re.findall(r"E-[0-9a-f]{4,}", bench.models.said("one")))
        run("agent-answer", question, "A tab is eight columns.", "--as", "@me", cwd=here)
        return Turn(calls=[look("opencode", here)])

    question = ghp("agent-escalate", "'How wide is a tab?'")
    bench.models.script(
        "one", Turn(calls=[shell("opencode", question)]), Turn(calls=[Call("task", HELP)])
    )
    bench.models.script("one", answered, Turn("Helped."), prompt=HELP["prompt"])
    assert end(start(bench, "opencode", here, "one")).code == 0
    helped = [each for each in bench.models.requests("one") if each.prompt == HELP["prompt"]]
    assert "A tab is eight columns." not in helped[-1].said
    assert bench.models.requests("one")[-1].said.count("A tab is eight columns.") == 1


def test_what_we_add_to_a_message_is_not_shown_as_the_users_words(bench: Bench, here: Path) -> None:
    bench.models.script("one", Turn("I stop."))
    ended = end(start(bench, "opencode", here, "one"))
    done = subprocess.run(
        [*bench.command("opencode"), "export", ended.events[0]["sessionID"]],
        cwd=here, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    parts = json.loads(done.stdout)["messages"][0]["parts"]
    (mine, ours) = ((part["text"], part.get("synthetic", False)) for part in parts)
    assert mine == ('"Do it."', False)
    assert ours[0].startswith("ghp-agents coordinates this repository.")
    assert ours[1]
