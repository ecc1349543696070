"""The watch on a real clone: what it reads, and what its keys do."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghp_agents.claims import shown_work
from ghp_agents.core.errors import NotFoundError, UnknownError
from ghp_agents.presence import service as presence
from ghp_agents.reports.overview import AgentFacts, AgentRow, Overview, overview
from ghp_agents.wiring import App
from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.team import Clones
from tests.support.watching import EXTRA

pytest.importorskip("textual", reason=EXTRA)

from ghp_agents.cli.watch.clone_look import CloneLook


def look_at(clone: Path) -> CloneLook:
    app = App(clone, os.environ)
    return CloneLook(app, lambda: read(app))


def read(app: App) -> Overview:
    snapshot = app.store.snapshot()
    agents = presence.list_agents(app, snapshot)
    return overview(shown_work.shown(app, snapshot, agents), AgentFacts())


def ask(clone: Path) -> str:
    """A question of worker-1; returns its id."""
    return invoke('agent-escalate "Tabs?" --option one --option eight --as worker-1', clone).out[
        :-1
    ]


def row_of(look: CloneLook, name: str) -> AgentRow:
    (row,) = (row for row in look.overview().agents if row.name == name)
    return row


def test_an_answer_is_the_persons_and_reaches_the_agent(repo: Path) -> None:
    look, name = look_at(repo), ask(repo)
    question = look.question(name)
    assert (question.agent, question.text, question.options) == (
        "worker-1", "Tabs?", ("one", "eight"),
    )  # fmt: skip
    ran = look.answer(question.id, "2")
    assert (ran.code, ran.lines[0]) == (
        0, f"✓ Answered {question.id}. worker-1 sees it at its next status, resume or hook.",
    )  # fmt: skip
    shown = invoke(f"agent-escalations {question.id}", repo).out
    assert "by person «" in shown
    assert "eight" in shown.splitlines()[-1]


@pytest.mark.parametrize("text", ["-", "--help", "-- x", "[red]", "' \" $(id)"])
def test_an_answer_is_taken_as_it_was_typed(repo: Path, text: str) -> None:
    name = ask(repo)
    assert look_at(repo).answer(name, text).code == 0
    assert invoke(f"agent-escalations {name}", repo).out.splitlines()[-1] == text


def test_a_refused_answer_says_why(repo: Path) -> None:
    ran = look_at(repo).answer("E-1234", "yes")
    assert ran.code == 1
    assert ran.lines[0] == "Error: There is no question E-1234."
    with pytest.raises(NotFoundError):
        look_at(repo).question("E-1234")


def test_in_an_agents_session_nobody_answers_as_a_person(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = ask(repo)
    monkeypatch.setenv("GHP_AGENT", "worker-2")
    ran = look_at(repo).answer(name, "yes")
    assert ran.lines[0] == "Error: This is an agent's session. It cannot act as a person."


def test_a_stop_saves_the_work_and_frees_the_issue(repo: Path) -> None:
    succeed(repo, 'agent-issue new "Parse files"', "agent-claim 1 --as worker-1")
    look = look_at(repo)
    ran = look.stop("worker-1", "--wrong way")
    assert (ran.code, ran.lines[-1]) == (0, "✓ worker-1 is told to stop at its next step.")
    assert "wrong way" in invoke("agent-log --event stop", repo).out
    assert row_of(look, "worker-1").issue is None


def test_it_returns_at_a_change_and_not_before(repo: Path) -> None:
    succeed(repo, "agent-heartbeat --as worker-1 --status testing")
    look, over, returned = look_at(repo), threading.Event(), threading.Event()
    look.overview()

    def wait() -> None:
        look.wait(over)
        returned.set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert not returned.wait(0.2)
    succeed(repo, "agent-heartbeat --as worker-1 --status reviewing")
    assert returned.wait(10.0)
    thread.join()
    assert row_of(look, "worker-1").status == "reviewing"


@pytest.mark.no_background
@pytest.mark.slow
def test_news_of_another_clone_comes_with_the_exchange(clones: Clones) -> None:
    here, other = clones(2)
    succeed(other, "agent-heartbeat --as worker-2 --status testing", "agent-sync")
    succeed(here, "agent-heartbeat --as worker-1 --status testing")
    off, on = look_at(here), CloneLook(App(here, {**os.environ, "GHP_BACKGROUND": "1"}), Overview)
    assert off.exchange() == 15.0
    assert [row.name for row in off.overview().agents] == ["worker-1"], "the background is off"
    assert 0 < on.exchange() <= 15.0
    assert [row.name for row in off.overview().agents] == ["worker-1", "worker-2"]


@pytest.mark.slow
def test_an_agent_is_shown_with_its_changes_its_handoffs_and_its_log(repo: Path) -> None:
    succeed(repo, 'agent-issue new "Parse files"', "agent-start 1 --as worker-1")
    path = Path(invoke("agent-where 1", repo).out.strip())
    (path / "new.py").write_text("x = 1\n")
    succeed(path, "agent-handoff --as worker-1 --note 'Half [b]done[/b]'")
    look = look_at(repo)
    detail = look.detail(row_of(look, "worker-1"))
    assert detail.changes == ("0 commits", "1 not committed:", "  ??  new.py")
    assert "[b]done[/b]" in detail.handoffs[0]
    assert any("claim #1" in line for line in detail.log)
    assert [place.key for place in look.places(row_of(look, "worker-1"))][-2:] == ["s", "c"]


def test_commands_at_the_same_time_keep_their_own_output(repo: Path) -> None:
    name = [ask(repo), "E-1234"] * 3
    before = sys.stdout, sys.stderr
    with ThreadPoolExecutor(len(name)) as pool:
        runs = list(pool.map(lambda id: look_at(repo).answer(id, "eight"), name))
    assert (sys.stdout, sys.stderr) == before
    for id, ran in zip(name, runs, strict=True):
        assert ran.lines
        assert ("There is no question E-1234." in ran.lines[0]) == (id == "E-1234")


@pytest.mark.slow
def test_a_person_gets_news_now_also_without_background_work(clones: Clones) -> None:
    here, other = clones(2)
    look = look_at(here)
    look.sync()
    succeed(other, "agent-heartbeat --as worker-2 --status testing", "agent-sync")
    assert look.sync() == "origin: news from 1 clone."
    assert [row.name for row in look.overview().agents] == ["worker-2"]


def test_without_a_remote_the_person_is_told(repo: Path) -> None:
    assert look_at(repo).sync() == "There is no remote to ask."


def test_a_remote_that_is_gone_is_an_error_for_the_person(clones: Clones, tmp_path: Path) -> None:
    (here,) = clones(1)
    git(here, "remote", "set-url", "origin", str(tmp_path / "gone"))
    with pytest.raises(UnknownError, match="origin: "):
        look_at(here).sync()
