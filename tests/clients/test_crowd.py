"""Sessions of Claude Code at once, in worktrees of one repository."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import checkpoints, run, states
from tests.support.clients import TIMEOUT_S, Bench, end, ghp
from tests.support.fake_models import Call, Line, Request, Turn
from tests.support.git import commit
from tests.support.thorough import count

pytestmark = pytest.mark.slow

CROWD = range(1, 1 + count(10, sample=3))


@pytest.mark.long
def test_many_sessions_share_a_repository_and_who_would_conflict_is_told_with_whom(
    bench: Bench, repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    commit(repo, {"common.py": "nobody\n"}, "Files")
    places = {f"worker-{number}": worktree(repo, str(number)) for number in CROWD}
    for (agent, place), number in zip(places.items(), CROWD, strict=True):
        run("agent-whoami", "--set", agent, cwd=place)
        assert run("agent-issue", "new", f"Part {number}", cwd=repo).strip() == str(number)
    run("agent-init", "--hooks", "claude", cwd=repo)

    gate = threading.Barrier(len(places), timeout=TIMEOUT_S)
    for (agent, place), number in zip(places.items(), CROWD, strict=True):
        bench.models.script(agent, *lines(agent, place, number, gate))
    sessions = [bench.claude(place, agent) for agent, place in places.items()]
    for ended in [end(session) for session in sessions]:
        assert (ended.code, ended.result["result"]) == (0, "I stop."), ended

    for agent, place in places.items():
        assert (place / f"{agent}.py").read_text() == f"{agent}\n"
    written = {agent: (place / "common.py").read_text() for agent, place in places.items()}
    winners = {agent for agent, text in written.items() if text == f"{agent}\n"}
    assert winners, "somebody can always go on"
    for agent in written.keys() - winners:
        assert written[agent] == "nobody\n"
        said = bench.models.requests(agent)[-1].said
        named = re.search(r"conflict at your line 1\. (\S+) has been editing it in another", said)
        assert named, said
        assert named[1] in winners

    present = states(repo)
    for agent, number in zip(places, CROWD, strict=True):
        mine = present[agent]
        assert (mine["status"], mine["kind"], mine["issue"]) == ("stopped", "claude", number)
    left = {(each["actor"], each["issue"]) for each in checkpoints(repo)}
    assert left == set(zip(places, CROWD, strict=True))
    claims = json.loads(run("agent-log", "--event", "claim", "--json", cwd=repo))
    assert {(each["actor"], each["issue"]) for each in claims} == left


def lines(agent: str, place: Path, number: int, gate: threading.Barrier) -> list[Line]:
    """Claim an issue; when all have, write one's own file and the one that all want; stop."""

    def write(name: str) -> Call:
        return Call("Write", {"file_path": str(place / name), "content": f"{agent}\n"})

    def together(request: Request) -> Turn:
        gate.wait()
        return Turn(calls=[write(f"{agent}.py"), write("common.py")])

    claim = Call("Bash", {"command": ghp("agent-claim", str(number)), "description": "Claim it"})
    return [Turn(calls=[claim]), together, Turn("I stop.")]
