"""A question about what has ended waits for nobody, and its agent is told so once."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.cli import complete
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.handoffs import evidence
from ghp_agents.handoffs.record import folder_of
from ghp_agents.leases.settled_questions import MOST, marked, read
from ghp_agents.pulls import body as finish_body
from ghp_agents.reports import pages
from ghp_agents.state.cause import CHOICE, CIRCLE, LAST_RESORT, OVERLAP, SHARED_FILES, WANTED_FILE
from ghp_agents.sync import compaction, desktop, notifications
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import invoke, succeed
from tests.support.leases import Yard, furnish, make_yard


@pytest.fixture
def yard(repo: Path) -> Yard:
    """A clone in which w-b has leased src/ and docs/."""
    yard = make_yard(repo)
    yard.take("w-b", "src/")
    yard.take("w-b", "docs/")
    return yard


def leases(yard: Yard) -> list[str]:
    """The names of the leases, oldest first."""
    from ghp_agents.leases import service

    return [f"L-{hold.id}" for hold in service.listing(yard.parts(None)).held]


def why(yard: Yard, kind: str, *about: str) -> str:
    """Why a question with this subject needs no answer, without the ids of leases."""
    question = Question("w-a", f"{kind} {about}?", None, ("yes", "no"), kind, about)
    question_asked = escalation.ask_once(yard.parts("w-a"), question).escalation
    (shown,) = marked(yard.parts(None).world, [question_asked])
    assert (shown.state, shown.is_open) == (("settled", False) if shown.settled else ("open", True))
    return shown.settled


def test_a_file_waits_for_a_person_until_all_that_refused_it_has_ended(yard: Yard) -> None:
    src, docs = leases(yard)
    about = ("src/a.py", "w-b", src, docs)
    assert why(yard, WANTED_FILE, *about) == ""
    yard.give("w-b", "src/", reason="merged by #3")
    assert why(yard, WANTED_FILE, *about) == ""
    yard.give("w-b", "docs/")
    assert why(yard, WANTED_FILE, *about) == (
        f"the lease {src[:6]} of w-b has ended since («merged by #3»)"
    )


@pytest.mark.parametrize("kind", [OVERLAP, CIRCLE])
def test_an_overlap_and_a_circle_have_ended_when_one_part_has(yard: Yard, kind: str) -> None:
    names = leases(yard)
    about = [x.removeprefix("L-") if kind == OVERLAP else f"{x} w-a" for x in names]
    assert why(yard, kind, *about) == ""
    yard.give("w-b", "docs/")
    assert why(yard, kind, *about) == f"the lease {names[1][:6]} of w-b has ended since"


def test_a_claim_has_ended_when_it_was_released_or_another_followed(yard: Yard) -> None:
    lock = yard.locks.acquire("issue/1", "w-b", expected=None, epoch=1)
    about = ("src/a.py", "w-b", f"issue/1@{lock.generation}")
    assert why(yard, WANTED_FILE, *about) == ""
    released = yard.locks.release("issue/1", expected=lock)
    assert why(yard, WANTED_FILE, *about) == "the claim of #1 has ended since"
    yard.locks.acquire("issue/1", "w-b", expected=released, epoch=1)
    assert why(yard, WANTED_FILE, *about) == "the claim of #1 has ended since"


@pytest.mark.parametrize(
    "about",
    [
        ("src/a.py", "w-b"), ("src/a.py",), (), ("src/a.py", "w-b", "L-0123456789ab"),
        ("src/a.py", "w-b", "L-../../x"), ("src/a.py", "w-b", "issue/7@1"),
        ("src/a.py", "w-b", "issue/x@1"), ("src/a.py", "w-b", "issue/1@" + "9" * 400),
        ("src/a.py", "w-b", *["L-0123456789ab"] * (MOST + 1)),
    ],
)  # fmt: skip
def test_what_a_clone_has_no_record_of_has_not_ended(yard: Yard, about: tuple[str, ...]) -> None:
    for kind in (WANTED_FILE, OVERLAP, CIRCLE):
        assert why(yard, kind, *about) == ""


def test_of_shared_files_and_free_text_nothing_ends(yard: Yard) -> None:
    (src, _) = leases(yard)
    yard.give("w-b", "src/")
    assert why(yard, SHARED_FILES, "src/a.py", "w-b", src) == ""
    assert why(yard, "question", "src/a.py", "w-b", src) == ""


# ------------------------------------------------------------------ by commands


def heard(repo: Path, agent: str) -> list[str]:
    """What the agent hears now and not again."""
    app, name = App(repo, os.environ, name=agent), AgentName(agent)
    notices = notifications.gather(app, name)
    notifications.deliver(app, name, notices.ids)
    assert notifications.gather(app, name).text == ""
    return notices.text.splitlines()


def status(repo: Path) -> str:
    """Whom `agent-status` shows as waiting for an answer, and what it says of questions."""
    code, out, err = invoke("agent-status", repo)
    assert code == 0
    return "\n".join(x for x in (out + err).splitlines() if "answer" in x or "question" in x)


@pytest.fixture
def wanted(repo: Path) -> tuple[Path, str]:
    """w-a wants a file that w-b has leased, and the name of the question."""
    furnish(repo)
    succeed(
        repo, "agent-init", "agent-heartbeat --as w-a", "agent-heartbeat --as w-b",
        "agent-lease src/ --as w-b",
    )  # fmt: skip
    assert heard(repo, "w-a") == []
    name = invoke("agent-escalate --file src/a.py --as w-a", repo).out.strip()
    return repo, name


@pytest.mark.slow
def test_a_question_whose_lease_has_ended_needs_no_person_and_its_agent_hears_it_once(
    wanted: tuple[Path, str],
) -> None:
    repo, name = wanted
    assert "1 question open" in status(repo)
    resume = "agent-resume --as w-a"
    assert name in invoke("agent-report", repo).out
    assert f"Wait for an answer before work that depends on {name}." in invoke(resume, repo).out
    succeed(repo, "agent-release src/ --reason 'merged by #3' --as w-b")
    report = json.loads(invoke("agent-report --json", repo).out)
    assert report["waiting"] == []
    lease = invoke(f"agent-escalations {name}", repo).out.rpartition("the lease ")[2][:6]
    why = f"the lease {lease} of w-b has ended since («merged by #3»)"
    assert status(repo) == (
        "1 question needs no answer any more: `ghp agent-escalations` shows why."
    )
    assert invoke("agent-escalations --open", repo).out == ""
    code, out, err = invoke("agent-escalations", repo)
    assert (code, out.splitlines()[1].split()[1]) == (0, "settled")
    assert err == f"{name[:6]} needs no answer any more: {why}.\n"
    page = invoke(f"agent-escalations {name}", repo).out
    assert page.endswith(f"\n\nNobody needs to answer any more: {why}.\n")
    assert heard(repo, "w-a") == [
        f"Your question {name} «May I change src/a.py, leased by w-b?» needs no answer any more: "
        f"{why}. If you are still refused, ask again."
    ]
    assert heard(repo, "w-b") == []
    assert name not in invoke(resume, repo).out.partition("## History")[0]


def shown_as_open(repo: Path, name: str) -> dict[str, bool]:
    """Whether JSON, the epic, the pages and the notices on the desktop show a question as open."""
    app = App(repo, os.environ)
    snapshot = app.store.snapshot()
    page = pages.renderer(app)(snapshot, snapshot.agents())["questions.md"].decode()
    return {
        "json": json.loads(invoke(f"agent-escalations {name} --json", repo).out)[0]["state"]
        == "open",
        "epic": name in invoke("agent-status --epic 1", repo).out,
        "page": name in page.partition("## Open")[2].partition("\n## ")[0],
        "notice": any(name in notice.body for notice in desktop.notices(app, snapshot)),
        "completion": name in dict(complete._questions(app, only_open=True)),
    }


@pytest.mark.slow
def test_pages_notices_epics_and_json_say_that_it_needs_no_answer(wanted: tuple[Path, str]) -> None:
    repo, _ = wanted
    succeed(repo, "agent-issue new Epic --as @me", "agent-issue new Part --parent 1 --as @me")
    ask = "agent-escalate --file src/b.py --issue 2 --urgency high --as w-a"
    name = invoke(ask, repo).out.strip()
    assert {*shown_as_open(repo, name).values()} == {True}
    succeed(repo, "agent-release src/ --as w-b")
    assert {*shown_as_open(repo, name).values()} == {False}
    (question,) = json.loads(invoke(f"agent-escalations {name} --json", repo).out)
    assert (question["state"], "has ended since" in question["settled"]) == ("settled", True)
    app = App(repo, os.environ)
    written = pages.renderer(app)(app.store.snapshot(), {})
    assert "0 open, 0 answered" in written["README.md"].decode()
    page = written["questions.md"].decode()
    assert name in page.partition("## Need no answer any more")[2].partition("## Answered")[0]


@pytest.mark.slow
def test_who_is_still_refused_asks_anew_and_a_person_can_answer(wanted: tuple[Path, str]) -> None:
    repo, name = wanted
    again = invoke("agent-escalate --file src/a.py --as w-a", repo)
    assert (again.out.strip(), "Already asked" in again.err) == (name, True)
    succeed(repo, "agent-release src/ --as w-b", "agent-lease src/ --as w-b")
    anew = invoke("agent-escalate --file src/a.py --as w-a", repo)
    assert anew.code == 0
    assert anew.out.strip() != name
    assert "1 question open" in status(repo)
    assert invoke("agent-escalations --open", repo).out.count("\n") == 2
    answered = invoke(f"agent-answer {anew.out.strip()} yes", repo)
    assert "w-a may change src/a.py." in answered.err


class Releasing(ManualClock):
    """A clock during whose first wait w-b gives its lease back."""

    def __init__(self, repo: Path) -> None:
        super().__init__()
        self.repo, self.waits = repo, 0

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        self.waits += 1
        if self.waits == 1:
            succeed(self.repo, "agent-release src/ --as w-b")


def test_who_waits_for_the_answer_goes_on_when_none_is_needed(wanted: tuple[Path, str]) -> None:
    repo, name = wanted
    clock = Releasing(repo)
    waited = invoke("agent-escalate --file src/a.py --wait --as w-a", repo, clock=clock)
    lease = waited.err.rpartition("the lease ")[2][:6]
    assert (waited.code, waited.out, clock.waits) == (1, "", 1)
    assert waited.err.endswith(
        f"Error: {name} needs no answer any more: the lease {lease} of w-b has ended since.\n"
        "Hint: Continue. If you are still refused, ask again.\n"
    )
    assert heard(repo, "w-a") == []


@pytest.mark.slow
def test_it_stays_settled_when_the_lease_has_left_the_tip(wanted: tuple[Path, str]) -> None:
    repo, name = wanted
    succeed(repo, "agent-release src/ --as w-b")
    shown = invoke(f"agent-escalations {name}", repo).out
    app = App(repo, os.environ)
    assert compaction.compact(app, app.ws.clock.now() + 10) > 0
    assert ".ghp/leases/" not in "".join(app.store.snapshot().present(".ghp/leases/"))
    assert invoke(f"agent-escalations {name}", repo).out == shown


@pytest.fixture
def asking(repo: Path) -> tuple[Path, str]:
    """w-a has claimed #1 and asks about it, and the name of the question."""
    furnish(repo)
    succeed(repo, "agent-init", "agent-issue new Parse --as @me", "agent-claim 1 --as w-a")
    assert heard(repo, "w-a") == []
    return repo, invoke("agent-escalate Which? --issue 1 --as w-a", repo).out.strip()


@pytest.mark.slow
def test_a_question_of_a_closed_issue_is_settled_once_its_agent_has_stopped(
    asking: tuple[Path, str],
) -> None:
    repo, name = asking
    invoke("agent-issue close 1 --as @me", repo)
    assert "1 question open" in status(repo), "the agent may wait for the answer"
    succeed(repo, "agent-heartbeat --status stopped --as w-a")
    assert status(repo) == (
        "1 question needs no answer any more: `ghp agent-escalations` shows why."
    )
    (listed,) = json.loads(invoke(f"agent-escalations {name} --json", repo).out)
    assert (listed["state"], listed["settled"]) == (
        "settled",
        "#1 is closed, and w-a no longer works",
    )
    assert {*shown_as_open(repo, name).values()} == {False}
    succeed(repo, "agent-issue reopen 1 --as @me")
    assert "1 question open" in status(repo)


@pytest.mark.slow
def test_a_question_of_an_open_issue_waits_also_for_an_agent_that_has_stopped(
    asking: tuple[Path, str],
) -> None:
    repo, name = asking
    succeed(repo, "agent-heartbeat --status testing --as w-a", "agent-stop w-a --as @me")
    assert "1 question open" in status(repo)
    succeed(repo, "agent-issue close 1 --as @me")
    assert "1 question needs no answer any more" in status(repo), "it was told to stop"
    assert invoke(f"agent-answer {name} SQLite --as @me", repo).code == 0, "a person may answer"


def test_who_continues_an_issue_needs_no_answer_once_it_is_closed(asking: tuple[Path, str]) -> None:
    repo, name = asking
    app = App(repo, os.environ)
    question = Question("w-a", "How to go on?", 1, ("again",), LAST_RESORT)
    asked = escalation.ask_once(app, question).escalation
    merging = Question("w-a", "May #2 be merged?", 1, ("yes",), CHOICE, ("pull/2",))
    pull = escalation.ask_once(app, merging).escalation
    lease = escalation.ask_once(app, merging._replace(text="May I?", about=())).escalation
    assert all(x.is_open for x in read(app.world))
    succeed(repo, "agent-issue close 1 --as @me")
    found = {x.name: x.settled for x in read(app.world)}
    over = "#1 is closed"
    assert found == {name: "", lease.name: "", asked.name: over, pull.name: over}


@pytest.mark.slow
def test_handoffs_for_others_and_pull_requests_leave_settled_questions_out(
    wanted: tuple[Path, str],
) -> None:
    repo, _ = wanted
    succeed(repo, "agent-issue new Parse --as @me", "agent-claim 1 --as w-a")
    name = invoke("agent-escalate --file src/b.py --issue 1 --as w-a", repo).out.strip()
    texts = handoff_for(repo, "w-a"), body(repo)
    assert [f"{name}, asked by" in text for text in texts] == [True, True]
    succeed(repo, "agent-release src/ --as w-b", "agent-claim 1 --as w-b")
    texts = handoff_for(repo, "w-b"), body(repo)
    assert [f"{name}, asked by" in text for text in texts] == [False, False]


def handoff_for(repo: Path, agent: str) -> str:
    """The handoff that is written for an agent that is stopped."""
    name = json.loads(invoke(f"agent-stop {agent} --json --as @me", repo).out)["handoffs"][-1]
    files = App(repo, {}).store.snapshot().files(folder_of(1))
    return next(text.decode() for path, text in files.items() if name.removeprefix("H-") in path)


def body(repo: Path) -> str:
    """The body of a pull request for #1."""
    app = App(repo, {}, name="w-a")
    about = evidence.topic(app, Actor("w-a"), "1")
    facts = evidence.topic_facts(app, about)
    return finish_body.body(app.ws, about, evidence.Branch(), facts, ())
