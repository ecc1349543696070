"""A sweep in words."""

from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.escalations.escalation import CONTINUE, Escalation, Question, is_last_resort
from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import LAST_RESORT
from ghp_agents.sweep import messages as words
from ghp_agents.sweep.messages import SweepLine
from ghp_agents.sweep.plan import Held

AT = Timestamp("2026-01-02T03:04:05Z")
HELD = Held(Lock("issue/1", "worker-1", 3, 1, AT, "n0nce", "", "abc"), "stale", 720.0)


def test_the_comment_on_silence_says_what_comes_next() -> None:
    ends = {
        "alert": "After 30 min it counts as dead, and somebody should take care of it.",
        "release": "After 30 min it counts as dead, and the issue goes back to the queue.",
        "reassign": "After 30 min it counts as dead, and the issue is given to another agent.",
    }
    for policy, end in ends.items():
        assert words.silent(HELD, 1_800.0, policy) == (
            f"worker-1 holds this issue and has been silent for 12 min. {end}\n\n"
            "<!-- ghp:silent worker-1 3 -->"
        )
    lapsed = HELD._replace(state="dead", lapsed=True)
    assert "It counts as dead: somebody" in words.silent(lapsed, 1_800.0, "alert")


def test_the_comment_on_the_end_says_whose_it_is_and_where_the_work_is() -> None:
    def comment(to: str | None, attempt: int, handoff: str = "H-1") -> str:
        return words.freed(HELD._replace(state="dead"), to, handoff, attempt, 3).partition("\n\n")[
            0
        ]

    start = "worker-1 held this issue and is dead. "
    work = " The handoff H-1 has the details."
    assert comment(None, 1) == f"{start}The issue is back in the queue: attempt 1 of 3.{work}"
    assert comment("worker-2", 2) == f"{start}worker-2 has it now: attempt 2 of 3.{work}"
    assert comment(None, 3) == (
        f"{start}Nobody holds it now, and a person was asked how to continue: attempt 3 of 3.{work}"
    )
    assert comment(None, 1, "") == f"{start}The issue is back in the queue: attempt 1 of 3."


def test_each_claim_has_its_own_markers() -> None:
    again = HELD._replace(lock=HELD.lock._replace(generation=4))
    marks = {words.marker(what, held) for what in ("silent", "back") for held in (HELD, again)}
    assert len(marks) == 4
    assert words.back(HELD).endswith(words.marker("back", HELD))


def test_the_question_is_the_same_for_the_same_claim_and_is_known_again() -> None:
    text = words.question(1, HELD, 3)
    assert text == words.question(1, HELD._replace(silent=9e9), 3)
    question = Question("worker-1", text, 1, CONTINUE, LAST_RESORT)
    escalation = Escalation("1", question, AT, 1, CloneId("a"))
    assert is_last_resort(escalation)
    assert not is_last_resort(escalation._replace(question=question._replace(kind="question")))
    assert "died once" in words.question(1, HELD, 1)


def test_the_summary_is_a_table_in_which_no_text_breaks_out() -> None:
    lines = [
        SweepLine("free", 12, "worker-1", "", True, False, "worker-1 is dead; back in the queue"),
        SweepLine("tell", None, "", "", False, False, "E-1 of x: <script> | `rm` [a](b)\n\n# No"),
        SweepLine("absorb", None, "", "", False, False, "kept clone abc: it was active again"),
    ]
    agents = (("active", 2), ("dead", 1))
    page = words.summary(lines, agents, ["published"], policy="release", dry_run=False)
    assert page == (
        "## Sweep of agents (release)\n"
        "\n"
        "Agents: 2 active, 1 dead.\n"
        "\n"
        "| | issue | agent | what |\n"
        "|---|---|---|---|\n"
        "| done | #12 | worker-1 | worker-1 is dead; back in the queue |\n"
        "| note |  |  | E-1 of x: &lt;script> \\| \\`rm\\` \\[a\\](b) # No |\n"
        "| left |  |  | kept clone abc: it was active again |\n"
        "\n"
        "- published\n"
    )
    empty = words.summary([], (), [], policy="alert", dry_run=True)
    assert empty == (
        "## Sweep of agents (alert, dry run)\n\nAgents: none.\n\nNothing was left behind.\n"
    )
