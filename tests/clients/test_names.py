"""Real sessions of Claude Code: one name has one living session, and `/clear` keeps it."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.clients.live import LiveSession
from tests.clients.steps import run, states
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Call, Turn
from tests.support.git import commit
from tests.support.hooks import log
from tests.support.terminal import Terminal

pytestmark = pytest.mark.slow

Begin = Callable[..., LiveSession]
SECOND = re.compile(r"so this one is (worker-1-[0-9a-f]{4})\.")


@pytest.fixture
def here(repo: Path) -> Iterator[Path]:
    """A worktree of worker-1. In the end, no hook has failed."""
    commit(repo, {"a.py": "a\n", "b.py": "b\n"}, "Files")
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=repo)
    yield repo
    assert log(repo) == []


@pytest.fixture
def begin(bench: Bench) -> Iterator[Begin]:
    """`begin(FOLDER, KEY)` starts a session."""
    with ExitStack() as stack:

        def start(folder: Path, key: str) -> LiveSession:
            return stack.enter_context(closing(LiveSession(bench, folder, key)))

        yield start


def test_two_sessions_in_one_named_worktree_are_two_agents(
    bench: Bench, here: Path, begin: Begin
) -> None:
    one = begin(here, "one")
    assert "This session is agent `worker-1`" in one.begin().context
    assert one.write(here / "a.py", "one\n").context == ""
    with closing(LiveSession(bench, here, "two")) as two:
        found = SECOND.search(two.begin().context)
        assert found
        second = found[1]
        assert f"It is {second} now." in one.look().context
        assert (one.look().context, two.look().context) == ("", "")

        read = two.ghp("agent-whoami")
        assert read.results == (second,)
        (refused,) = two.write(here / "a.py", "two\n").results
        assert "worker-1 has been editing a.py in this worktree since " in refused
        two.write(here / "b.py", "two\n")
        assert (here / "b.py").read_text() == "two\n"
        assert {name: each["status"] for name, each in states(here).items()} == {
            "worker-1": "implementing", second: "implementing",
        }  # fmt: skip
    assert states(here)["worker-1"]["status"] == "implementing"

    # The second has ended: what the first edits is still refused to a third.
    write = Call("Write", {"file_path": str(here / "a.py"), "content": "three\n"})
    bench.models.script("three", Turn(calls=[Call("Read", {"file_path": str(here / "a.py")})]),
                        Turn(calls=[write]))  # fmt: skip
    assert end(bench.claude(here, "three", env={"GHP_AGENT": "worker-3"})).code == 0
    assert (here / "a.py").read_text() == "one\n"
    one.shell("git commit -qam One")


def test_a_session_that_another_starts_does_not_take_its_name(
    bench: Bench, here: Path, begin: Begin
) -> None:
    one = begin(here, "one")
    one.begin()
    one.write(here / "a.py", "one\n")
    write = Call("Write", {"file_path": str(here / "a.py"), "content": "two\n"})
    whoami = Call("Bash", {"command": ghp("agent-whoami"), "description": "Who"})
    read = Call("Read", {"file_path": str(here / "a.py")})
    bench.models.script("two", Turn(calls=[whoami, read]), Turn(calls=[write]))
    inherited = {"GHP_AGENT": "worker-1"}
    assert end(bench.claude(here, "two", env=inherited)).code == 0
    assert re.search(r"^worker-1-[0-9a-f]{4}$", bench.models.said("two"), re.MULTILINE)
    assert (here / "a.py").read_text() == "one\n"
    assert states(here)["worker-1"]["status"] == "implementing"


def say(screen: Terminal, word: str) -> None:
    """Type a word, and the end of the line when it is on the screen."""
    screen.type(word)
    screen.wait_for(word)
    screen.type("\r")


def test_a_cleared_session_keeps_its_name_and_its_claim(bench: Bench, here: Path) -> None:
    run("agent-issue", "new", "Parse", "--as", "@me", cwd=here)
    claim = Call("Bash", {"command": ghp("agent-claim", "1"), "description": "Claim"})
    whoami = Call("Bash", {"command": ghp("agent-whoami"), "description": "Who"})
    (here / ".git/ghp-agent").unlink()  # the session has a name by its id
    allow = '{"permissions": {"allow": ["Bash"]}}'
    (bench.home / ".claude").mkdir(exist_ok=True)
    (bench.home / ".claude/settings.json").write_text(allow)
    bench.models.script("one", Turn(calls=[claim]), Turn("Claimed."), Turn(calls=[whoami]),
                        Turn("Answered."))  # fmt: skip
    with bench.claude_at_a_terminal(here, "one") as screen:
        screen.wait_for("accept edits")
        say(screen, "Claim")
        screen.wait_for("Claimed")
        before = states(here)
        (name,) = [each for each in before if each.startswith("claude-")]
        say(screen, "/clear")
        # A hook at the end of the turn may still run: until it ends, the command waits.
        screen.wait_until(lambda: states(here)[name]["session"] != before[name]["session"])
        say(screen, "Who")
        screen.wait_for("Answered")
    after = states(here)
    assert [each for each in after if each.startswith("claude-")] == [name]
    assert (after[name]["issue"], after[name]["generation"]) == (1, 1)
    assert before[name]["session"] != after[name]["session"]
    assert re.search(rf"^{name}$", bench.models.requests("one")[-1].said, re.MULTILINE)
