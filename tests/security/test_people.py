"""A person's word stays a person's: an agent is not told how to be one, and its answers advise."""

import json
from pathlib import Path

import pytest

from tests.support.consent import mine
from tests.support.ghp import Result, invoke, run_ghp

SESSION = {"CLAUDE_CODE_SESSION_ID": "1a2b3c4d-0000-4000-8000-000000000001"}
CODEX = {"CODEX_THREAD_ID": "1a2b3c4d"}
NAMED = {"GHP_AGENT": "worker-1"}
MARKED = {"GEMINI_CLI": "1"}  # a client whose shell has a mark, and no session


@pytest.fixture
def led(repo: Path) -> Path:
    """A repository in use, in which `lead` directs the others."""
    mine({"agents": {"orchestrators": ["lead"]}})
    assert invoke("agent-init", repo).code == 0
    return repo


def asked(repo: Path) -> str:
    """A question of worker-1's."""
    made = invoke("agent-escalate 'Deploy to production?' --as worker-1", repo)
    assert made.code == 0, made
    return made.out.strip()


def state(repo: Path, question: str) -> str:
    (found,) = json.loads(invoke(f"agent-escalations {question} --json", repo).out)
    return f"{found['state']}, {len(found['answers'])} answers, {len(found['advice'])} advice"


@pytest.mark.parametrize("environ", [SESSION, CODEX, NAMED, NAMED | SESSION, MARKED])
def test_an_agent_may_not_act_as_a_person(led: Path, environ: dict[str, str]) -> None:
    question = asked(led)
    refused = run_ghp(f"agent-answer {question} yes --as @me", led, environ)
    assert refused == Result(
        3, "",
        "Error: This is an agent's session. It cannot act as a person.\n"
        "Hint: Ask your user: a person must do this.\n",
    )  # fmt: skip
    assert state(led, question) == "open, 0 answers, 0 advice"


def test_an_agent_may_not_act_as_the_orchestrator_that_it_is_not(led: Path) -> None:
    refused = invoke("agent-issue new 'More work' --as lead", led, NAMED)
    assert refused == Result(
        3, "",
        "Error: This is an agent's session. It cannot act as the orchestrator lead.\n"
        "Hint: Ask your user: the orchestrator lead must do this.\n",
    )  # fmt: skip


def test_an_orchestrator_acts_under_its_own_name(led: Path) -> None:
    made = invoke("agent-issue new 'More work' --as lead", led, {"GHP_AGENT": "lead"})
    assert made.code == 0, made


def test_an_agent_may_still_act_as_another_agent(led: Path) -> None:
    assert invoke("agent-issue new 'More work' --as worker-2", led, NAMED).code == 0


def test_what_is_said_in_the_shell_of_a_marked_client_is_not_the_persons(led: Path) -> None:
    question = asked(led)
    assert invoke(f"agent-answer {question} yes", led, MARKED).code == 0
    assert state(led, question) == "open, 0 answers, 1 advice"
    (found,) = json.loads(invoke(f"agent-escalations {question} --json", led).out)
    assert found["advice"][0]["by"].startswith("gemini-")


def test_a_person_whose_shell_looks_like_an_agents_can_say_so(led: Path) -> None:
    question = asked(led)
    environ = {**SESSION, "GHP_PERSON": "1"}
    assert invoke(f"agent-answer {question} yes --as @me", led, environ).code == 0
    assert state(led, question) == "answered, 1 answers, 0 advice"


def test_a_person_at_a_shell_of_their_own_acts_as_themselves(led: Path) -> None:
    question = asked(led)
    assert invoke(f"agent-answer {question} yes --as @me", led).code == 0
    assert state(led, question) == "answered, 1 answers, 0 advice"


def test_no_message_teaches_an_agent_to_be_a_person(led: Path) -> None:
    question = asked(led)
    refused = invoke(f"agent-answer {question} yes", led, NAMED)
    assert refused == Result(
        3, "",
        "Error: worker-1 asked this question, and you act for worker-1 here.\n"
        "Hint: Only a person or an orchestrator answers it.\n",
    )  # fmt: skip
    person = invoke(f"agent-answer {question} yes --as worker-1", led)
    assert person.err.endswith("Hint: A person answers it with `--as @me`.\n")


# ------------------------------------------------------------------------------- questions


def test_an_agents_answer_is_advice_and_the_question_stays_open(led: Path) -> None:
    question = asked(led)
    said = invoke(f"agent-answer {question} 'Do it.' --as worker-2", led)
    added = f"✓ Added advice to {question}; only a person or an orchestrator can answer it.\n"
    assert (said.code, added in said.err) == (0, True)
    assert state(led, question) == "open, 0 answers, 1 advice"
    assert "1 question open" in invoke("agent-status", led).err
    shown = invoke("agent-status --as worker-1", led).out
    assert f"Advice on your question {question}, by agent worker-2, " in shown
    assert "This is advice only: a person or an orchestrator decides." in shown


def test_waiting_for_an_answer_does_not_end_with_advice(led: Path) -> None:
    question = asked(led)
    assert invoke(f"agent-answer {question} 'Do it.' --as worker-2", led).code == 0
    wait = "agent-escalate 'Deploy to production?' --wait --timeout 0 --as worker-1"
    assert invoke(wait, led).code == 1
    assert invoke(f"agent-answer {question} 'No.' --as @me", led).code == 0
    assert invoke(wait, led).out.endswith("No.\n")


def test_an_orchestrator_decides_as_a_person_does(led: Path) -> None:
    question = asked(led)
    assert invoke(f"agent-answer {question} yes --as lead", led).code == 0
    assert state(led, question) == "answered, 1 answers, 0 advice"
    assert "question" not in invoke("agent-status", led).err


def test_an_old_answer_of_an_agent_counts_by_who_directs_now(led: Path) -> None:
    question = asked(led)
    assert invoke(f"agent-answer {question} yes --as lead", led).code == 0
    mine({})
    assert state(led, question) == "open, 0 answers, 1 advice"


def test_an_agent_gives_itself_no_leave_for_shared_files(led: Path) -> None:
    mine({"agents": {"shared": ["/README.md"]}})
    asking = invoke("agent-lease ./README.md --as worker-1", led)
    question = next(word for word in asking.err.split() if word.startswith("E-")).strip(".")
    assert asking.code == 3
    invoke(f"agent-answer {question} approve --as worker-2", led)
    assert invoke("agent-lease ./README.md --as worker-1", led).code == 3
    assert invoke(f"agent-answer {question} approve --as @me", led, NAMED).code == 3
    assert invoke(f"agent-answer {question} approve --as @me", led).code == 0
    assert invoke("agent-lease ./README.md --as worker-1", led).code == 0


# ------------------------------------------------------------------------------- provenance


def test_every_record_keeps_by_which_session_it_was_made(led: Path) -> None:
    assert invoke("agent-issue new First --as worker-1", led, SESSION).code == 0
    assert invoke("agent-issue new Second", led, NAMED).code == 0
    assert invoke("agent-issue new Third --as @me", led, {**SESSION, "GHP_PERSON": "1"}).code == 0
    assert invoke("agent-issue new Fourth --as @me", led).code == 0
    entries = json.loads(invoke("agent-log --json", led).out)
    made = [(each["actor"], each["via"]) for each in entries if each["event"] == "issue-new"]
    assert made == [
        ("worker-1", "claude 1a2b3c4d"), ("worker-1", "agent worker-1"),
        ("Test Person", "claude 1a2b3c4d"), ("Test Person", None),
    ]  # fmt: skip
    log = invoke("agent-log", led).out
    assert "«Test Person» (a person) (via claude 1a2b3c4d)  issue-new" in log
