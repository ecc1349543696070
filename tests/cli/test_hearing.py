"""A command that depends on others hears them first, and lets them hear when it is done."""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ghp_agents.cli.views import remote_news
from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath import background
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.doctor import findings
from tests.support.ghp import Result, invoke, start, succeed
from tests.support.git import commit, git

Clones = Callable[[int], list[Path]]
ALONE = {"GHP_BACKGROUND": "0"}
NOBODY = "No agents yet. Start one with `ghp agent-start --next --as NAME`.\n"
NEVER = "Last news from origin: never (0 other clones); run `ghp agent-sync` to get news.\n"
SILENT = (
    "Warning: Could not ask origin for news: `git ls-remote` did not finish within 0.4 s.\n"
    "Hint: This is what this clone knows. `ghp agent-sync` waits longer for the remote.\n"
)


@pytest.fixture
def stalled() -> Iterator[str]:
    """The address of a remote that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"git://127.0.0.1:{server.getsockname()[1]}/repo.git"


def status(folder: Path, words: str = "", clock: ManualClock | None = None) -> Result:
    return invoke(f"agent-status {words}", folder, ALONE, clock=clock)


def is_used(folder: Path) -> bool:
    return (folder / ".git/ghp").exists()


def working(folder: Path) -> None:
    succeed(folder, "agent-heartbeat --status testing --as worker-1", "agent-sync")


@pytest.mark.slow
def test_a_sync_that_runs_already_hears_for_it(clones: Clones) -> None:
    one, other = clones(2)
    working(one)
    succeed(other, "agent-init --no-probe")
    with files.locked(other / ".git/ghp/sync.lock"):
        code, out, err = status(other)
    assert (code, out) == (0, "")
    assert err.startswith(
        "Warning: Could not ask origin for news: another process of this clone is syncing with "
        "it.\nHint: This is what this clone knows."
    )


@pytest.mark.slow
def test_a_fresh_clone_hears_who_is_there(clones: Clones) -> None:
    one, other = clones(2)
    working(one)
    assert not is_used(other)
    assert status(other, "--offline") == (0, "", NOBODY + NEVER)
    assert [*json.loads(status(other, "--json").out)["agents"]] == ["worker-1"]


@pytest.mark.slow
def test_a_holder_whose_heartbeat_has_not_arrived_is_named(clones: Clones) -> None:
    one, other = clones(2)
    succeed(one, "agent-issue new Parse --as @me", "agent-sync")
    assert invoke("agent-claim 1 --as worker-1", one, ALONE).code == 0
    assert invoke("agent-claim 1 --as worker-2", other, ALONE).code == 3
    line = "No heartbeat has arrived yet. These agents hold an issue: worker-1 (#1).\n"
    assert status(other, "--offline").err.startswith(line)


def test_where_nobody_uses_it_nothing_is_created(clones: Clones) -> None:
    (one,) = clones(1)
    assert status(one) == (0, "", NOBODY + NEVER)
    assert invoke("agent-status", one, {"GHP_BACKGROUND": "1"}) == (0, "", NOBODY + NEVER)
    assert not is_used(one)
    assert git(one, "for-each-ref", "refs/ghp") == ""


def test_a_remote_that_does_not_answer_is_named_and_costs_little(
    clones: Clones, stalled: str
) -> None:
    (one,) = clones(1)
    git(one, "remote", "set-url", "origin", stalled)
    assert status(one) == (0, "", SILENT + NOBODY + NEVER)
    assert status(one, "--offline") == (0, "", NOBODY + NEVER)
    assert not is_used(one)


@pytest.mark.slow
def test_status_asks_again_when_its_news_is_older_than_a_sync_would_leave_it(
    clones: Clones,
) -> None:
    one, other = clones(2)
    clock = ManualClock()
    succeed(other, "agent-issue new Parse --as @me")
    assert invoke("agent-sync", other, clock=clock).code == 0
    working(one)
    assert json.loads(status(other, "--json", clock).out)["agents"] == {}
    clock.wait(16)
    assert [*json.loads(status(other, "--json", clock).out)["agents"]] == ["worker-1"]
    succeed(one, "agent-heartbeat --status idle --as worker-1", "agent-sync")
    for seconds, words in ((14, "testing"), (2, "idle")):
        clock.wait(seconds)
        fields = json.loads(status(other, "--json", clock).out)["agents"]["worker-1"]
        assert fields["status"] == words


def finished(folder: Path, changes: Mapping[str, str] | None = None) -> Result:
    """worker-1 finishes #1 here."""
    succeed(folder, "agent-issue new Parse --as @me", "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", folder).out.strip())
    commit(place, changes or {"a.txt": "one\n"})
    return invoke("agent-finish --as worker-1", place, {"GHP_BACKGROUND": "1"})


@pytest.mark.slow
def test_finish_is_heard_before_it_says_done(clones: Clones) -> None:
    one, other = clones(2)
    assert finished(one).out == "2\n"
    succeed(other, "agent-sync --no-push")
    assert [pull["number"] for pull in json.loads(invoke("agent-pulls --json", other).out)] == [2]


@pytest.mark.slow
def test_the_queue_hears_the_others_first_and_says_how_old_its_news_is(clones: Clones) -> None:
    one, other = clones(2)
    succeed(other, "agent-sync")
    finished(one)
    done = invoke("agent-merge --queue --unchecked --as @me", other, ALONE)
    assert (done.code, done.out) == (0, "2\n")
    assert done.err.startswith("Last news from origin: 0 s ago.\n")


def test_a_queue_that_cannot_hear_says_so(clones: Clones) -> None:
    (one,) = clones(1)
    succeed(one, "agent-sync")
    git(one, "remote", "set-url", "origin", str(one / "nowhere"))
    err = invoke("agent-merge --queue --as @me", one, ALONE).err
    assert err.startswith("Warning: Could not ask origin for finished work: ")
    assert "\nHint: Last news from origin: " in err
    assert "; work finished since then is not in the queue.\n" in err


@pytest.mark.no_background
@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "agent-conflicts", "agent-escalations", "agent-explain 1", "agent-inbox --sent --as @me",
        "agent-issue show 1", "agent-issues", "agent-jobs", "agent-leases", "agent-log",
        "agent-notes list", "agent-pulls", "agent-recall tabs", "agent-report", "agent-timeline",
        "agent-topic list", "agent-workflows",
    ],
)  # fmt: skip
def test_what_reads_asks_once_and_says_how_old_its_news_is_while_nobody_answers(
    clones: Clones, remote: Path, words: str
) -> None:
    here, other = clones(2)
    succeed(here, "agent-issue new First", "agent-sync")
    clock = ManualClock()
    assert invoke(f"{words} --json", other, clock=clock)[::2] == (0, "")
    assert "First" in invoke("agent-issues", other, clock=clock).out
    remote.rename(remote.with_name("moved.git"))
    ages = ("", "Hint: This is what this clone knew 16 s ago. ", "Last news from origin: 21 s ago.")
    for seconds, age in zip((14, 2, 5), ages, strict=True):
        clock.wait(seconds)
        code, _, err = invoke(f"{words} --json", other, clock=clock)
        assert (code, bool(err), age in err) == (0, bool(age), True)
    assert "sync" not in findings(other)  # a brief question that failed is no failed sync


@pytest.mark.slow
def test_an_agent_that_only_another_clone_knows_can_be_stopped_and_explained(
    clones: Clones,
) -> None:
    one, other = clones(2)
    succeed(other, "agent-sync")
    working(one)
    assert invoke("agent-explain worker-1", other, ALONE).code == 0
    succeed(one, "agent-heartbeat --as worker-2", "agent-sync")
    code, _, err = invoke("agent-stop worker-2 --as @me", other, ALONE)
    assert (code, err) == (0, "✓ worker-2 is told to stop at its next step.\n")
    code, _, err = invoke("agent-stop worker-3 --as @me", other, ALONE)
    assert (code, err.partition("\n")[0]) == (1, "Error: There is no agent worker-3.")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["agent-claim 1", "agent-start 1"])
def test_an_issue_that_only_another_clone_knows_can_be_begun(clones: Clones, command: str) -> None:
    one, other = clones(2)
    succeed(other, "agent-sync")
    succeed(one, "agent-issue new Parse --as @me", "agent-sync")
    assert invoke(f"{command} --as worker-2", other, ALONE).code == 0
    code, _, err = invoke(f"{command[:-1]}7 --as worker-2", other, ALONE)
    assert (code, err.partition("\n")[0]) == (1, "Error: There is no issue 7.")


@pytest.mark.parametrize(
    "command",
    [
        "issue close 1",
        *(
            pytest.param(words, marks=pytest.mark.slow)
            for words in (
                *("issue comment 1 Hi", "issue edit 1 --priority high", "issue assign 1 worker-2"),
                *("issue block 1 --by 2", "release 1"),
            )
        ),
    ],
)
def test_an_issue_that_only_another_clone_knows_can_be_changed(
    clones: Clones, command: str
) -> None:
    one, other = clones(2)
    succeed(other, "agent-sync")
    succeed(one, "agent-issue new Parse --as @me", "agent-issue new Print --as @me", "agent-sync")
    assert invoke(f"agent-{command} --as @me", other, ALONE).code == 0


@pytest.mark.slow
def test_an_issue_that_only_another_clone_knows_has_no_worktree_here(clones: Clones) -> None:
    one, other = clones(2)
    succeed(other, "agent-sync")
    succeed(one, "agent-issue new Parse --as @me", "agent-sync")
    err = invoke("agent-where 1", other).err
    assert err.startswith("Error: Issue #1 has no worktree in this clone.")


@pytest.mark.slow
def test_a_merge_is_heard_whole_before_it_says_done(clones: Clones) -> None:
    one, other = clones(2)
    finished(one)
    assert invoke("agent-merge 1 --unchecked --as @me", one, {"GHP_BACKGROUND": "1"}).code == 0
    succeed(other, "agent-sync --no-push")
    (pull,) = json.loads(invoke("agent-pulls --all --json", other).out)
    (issue,) = json.loads(invoke("agent-issues --all --json", other).out)
    assert (pull["state"], issue["state"]) == ("merged", "closed")


@pytest.mark.slow
def test_an_approval_given_in_another_clone_counts_at_once(clones: Clones) -> None:
    one, other = clones(2)
    assert finished(one, {".ghp/config.json": "{}\n"}).out == "2\n"
    merging = "agent-merge 2 --unchecked --as lead"
    assert invoke(merging, one, ALONE).code == 3
    succeed(other, "agent-sync", "agent-review 2 --approve --as @me", "agent-sync")
    assert invoke(merging, one, ALONE).out == "2\n"


@pytest.mark.slow
def test_what_another_process_has_just_fetched_is_news(clones: Clones) -> None:
    one, other = clones(2)
    succeed(other, "agent-init --no-probe")
    succeed(one, "agent-issue new Parse --as @me", "agent-sync")
    app, tries = App(other, os.environ), []

    def find() -> int:
        tries.append(len(app.tracker.known()))
        if len(tries) == 1:
            succeed(other, "agent-sync --no-push")
        if not app.tracker.known() or len(tries) == 1:
            raise RefusedError("nothing", hint="")
        return tries[-1]

    assert remote_news.after_asking(app, find) == 1
    tries.clear()
    with pytest.raises(RefusedError, match="nothing"):
        remote_news.after_asking(app, find)
    assert len(tries) == 1, "there was no news"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_a_watch_recorded_is_sent_when_it_is_ended(clones: Clones, number: int) -> None:
    one, other = clones(2)
    succeed(one, "agent-sync")
    watch = start(one, "agent-dispatch --watch --as @me", ALONE)
    assert watch.stderr is not None
    assert watch.stderr.readline() == "Dispatching; Ctrl-C ends this.\n"
    succeed(one, "agent-issue new Parse --as @me")
    watch.send_signal(number)
    watch.communicate(timeout=30)
    succeed(other, "agent-sync --no-push")
    assert "Parse" in invoke("agent-issues", other).out


@pytest.mark.slow
def test_status_says_what_this_clone_has_not_sent(clones: Clones) -> None:
    (one,) = clones(1)
    clock = ManualClock()
    invoke("agent-sync", one, clock=clock)
    assert invoke("agent-issue new Parse --as @me", one, ALONE, clock=clock).code == 0
    assert "1 record not sent: run `ghp agent-sync`.\n" in status(one, "--offline", clock).err
    clock.wait(120)
    line = "1 change not sent for 2 min: run `ghp agent-sync`.\n"
    assert line in status(one, "--offline", clock).err
    started: list[list[str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "spawn", lambda words, _, **__: started.append(words))
        done = invoke("agent-status", one, {"GHP_BACKGROUND": "1"}, clock=clock)
    assert "1 change not sent for 2 min: this is done in the background.\n" in done.err
    assert [words[-2:] for words in started] == [["agent-sync", "--background"]]
    invoke("agent-sync", one, clock=clock)
    assert "not sent" not in status(one, "--offline", clock).err
