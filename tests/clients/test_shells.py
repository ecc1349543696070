"""Every client runs on a model of the tests, and in its shell the agent is named after it."""

from pathlib import Path

import pytest

from tests.clients.steps import edit, run, shell, start
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Turn
from tools.clients import CLIENTS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("client", CLIENTS)
def test_without_hooks_its_shell_is_that_of_an_agent_and_not_of_the_person(
    bench: Bench, repo: Path, client: str
) -> None:
    run("agent-init", cwd=repo)
    who = shell(client, ghp("agent-whoami", "> who.txt"))
    bench.models.script("one", Turn(calls=[edit(client, repo / "new.py")]), Turn(calls=[who]))
    ended = end(start(bench, client, repo, "one"))
    assert ended.code == 0, ended.err
    assert (repo / "new.py").read_text() == "new\n"
    assert (repo / "who.txt").read_text().startswith(f"{client}-")
