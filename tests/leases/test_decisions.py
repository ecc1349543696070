"""What an answer changes, by the records alone."""

import pytest

from ghp_agents.core import globs
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import Answer, Escalation, Question
from ghp_agents.leases.decisions import Decision, Facts, decide, remainder
from ghp_agents.leases.record import LeaseEvent, LeaseHistory
from ghp_agents.state.cause import CIRCLE, OVERLAP, SHARED_FILES, WANTED_FILE

AT = Timestamp("2026-01-02T03:04:05Z")
CLONE = CloneId("c1")
DANA = Actor("Dana", True)


def lease(number: int, holder: str, *patterns: str, name: str | None = None) -> LeaseHistory:
    request = LeaseEvent(
        f"{number:012x}", f"{number:012x}", "request", number, CLONE, AT, Actor(holder),
        Actor(holder), patterns=patterns, name=name, granted=True,
    )  # fmt: skip
    return LeaseHistory(request, request)


def answered(kind: str, about: tuple[str, ...], options: tuple[str, ...], text: str) -> Escalation:
    answer = Answer("aa", "ee", DANA, text, AT, 20, CLONE)
    question = Question("w-a", "Who?", None, options, kind, about)
    return Escalation("ee", question, AT, 10, CLONE, answers=(answer,))


def decided(kind: str, about: tuple[str, ...], text: str, *logs: LeaseHistory) -> Decision:
    options = ("w-b", "w-a") if kind == OVERLAP else ("yes", "no")
    decision = decide(answered(kind, about, options, text), Facts(logs))
    assert decision is not None
    return decision


@pytest.mark.parametrize(
    ("patterns", "taken", "rest"),
    [
        (["src/"], ["/src/a.py"], ("src/", "!/src/a.py")),
        (["/src/a.py"], ["src/"], ()),
        (["/src/a.py", "docs/"], ["src/"], ("docs/", "!src/")),
        (["src/*.py"], ["src/"], ()),
        (["src/"], ["src/"], ()),
        (["*.py"], ["src/"], ("*.py", "!src/")),
        (["src/", "!/src/a.py"], ["/src/b.py"], ("src/", "!/src/a.py", "!/src/b.py")),
        (["src/"], ["src/gen/", "!src/gen/x.py"], ("src/", "!src/gen/")),
        (["!/src/a.py", "/src/b.py"], ["/src/b.py"], ()),
    ],
)
def test_what_is_left_of_a_lease(
    patterns: list[str], taken: list[str], rest: tuple[str, ...]
) -> None:
    assert remainder(patterns, taken) == rest
    files = ["docs/x.md", "src/a.py", "src/b.py", "src/gen/x.py", "src/gen/y.py"]
    kept = set(globs.select(rest, files)) if rest else set()
    assert kept <= set(globs.select(patterns, files)) - set(globs.select(taken, files))


def test_a_lease_that_would_need_too_many_patterns_ends() -> None:
    assert remainder(["src/"], [f"/src/{number}.py" for number in range(1000)]) == ()


def test_the_chosen_one_of_two_keeps_all_and_the_other_what_is_left() -> None:
    one, other = lease(1, "w-b", "src/"), lease(2, "w-a", "/src/a.py")
    about = (one.id, other.id)
    decision = decided(OVERLAP, about, "w-a", one, other)
    assert decision.text == (
        "w-a keeps src/a.py. The lease L-0000 of w-b for src/ now leaves out src/a.py."
    )
    assert [(event.kind, event.patterns) for event in decision.events] == [
        ("release", ()), ("request", ("src/", "!/src/a.py")),
    ]  # fmt: skip
    assert decision.agents == ("w-a", "w-b")
    again = decided(OVERLAP, about, "1", one, other)
    assert again.is_done is False, "a number becomes its option when it is answered"
    ended = decided(OVERLAP, about, "w-b", one, other)
    assert [(event.kind, event.lease) for event in ended.events] == [("release", other.id)]


def test_of_a_resource_one_lease_ends() -> None:
    one, other = lease(1, "w-b", name="db"), lease(2, "w-a", name="db")
    decision = decided(OVERLAP, (one.id, other.id), "w-a", one, other)
    assert decision.text == "w-a keeps db. The lease L-0000 of w-b for db has ended."


def test_two_options_of_one_name_cannot_be_told_apart() -> None:
    one, other = lease(1, "w-a", "src/"), lease(2, "w-a", "src/")
    question = answered(OVERLAP, (one.id, other.id), ("w-a", "w-a"), "w-a")
    decision = decide(question, Facts((one, other)))
    assert decision == Decision(
        "Nothing was changed: «w-a» is not one of the options.", False, ("w-a",)
    )


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        (OVERLAP, ()), (OVERLAP, ("ff", "fe")), (OVERLAP, ("ff",)), (WANTED_FILE, ()),
        (SHARED_FILES, ()), (CIRCLE, ()), (CIRCLE, ("L-ff w-a",)), (CIRCLE, ("", "")),
        (CIRCLE, ("issue/x@y",)), (CIRCLE, ("nonsense",)),
    ],
)  # fmt: skip
def test_a_question_with_a_strange_subject_changes_nothing(
    kind: str, about: tuple[str, ...]
) -> None:
    decision = decide(
        answered(kind, about, ("yes", "no"), "yes"), Facts((lease(1, "w-b", "src/"),))
    )
    assert decision is None or (decision.events, decision.is_done) == ((), False)


def test_a_file_name_is_no_pattern_and_cannot_leave_its_sentence() -> None:
    held = lease(1, "w-b", "src/")
    path = "src/*».py"
    decision = decided(WANTED_FILE, (path, "w-b", f"L-{held.id}"), "yes", held)
    assert decision.text.startswith("w-a may change «src/*'.py». ")
    given = decision.events[-1]
    assert (given.patterns, given.holder, given.approved_by, given.question) == (
        ("/src/\\*».py",), Actor("w-a"), "Dana", "ee",
    )  # fmt: skip


def test_a_persons_lease_gives_a_file_too() -> None:
    held = lease(1, "w-b", "src/")
    held = held._replace(request=held.request._replace(holder=Actor("Ada", True)))
    decision = decided(WANTED_FILE, ("src/a.py", "Ada", f"L-{held.id}"), "yes", held)
    assert decision.is_done
    assert decision.text.endswith("of «Ada» (a person) for src/ now leaves out src/a.py.")


def test_shared_files_that_another_has_leased_are_not_given() -> None:
    held = lease(1, "w-b", "*.md")
    decision = decided(SHARED_FILES, ("/README.md",), "yes", held)
    assert decision.text == (
        "Nothing was changed: w-b has leased /README.md (L-0000). When it is free, the same "
        "`ghp agent-lease` succeeds."
    )
    ended = held._replace(released=held.request)
    assert decided(SHARED_FILES, ("/README.md",), "yes", ended).is_done


def waits(number: int, holder: str, *patterns: str, right: str = "") -> LeaseHistory:
    log = lease(number, holder, *patterns)
    request = log.request._replace(granted=False, right=right)
    return LeaseHistory(request)


def test_who_goes_first_gets_its_turn_before_others_that_wait() -> None:
    held, third, first = (
        lease(1, "w-b", "docs/"),
        waits(2, "w-c", "docs/"),
        waits(3, "w-a", "docs/"),
    )
    about = (f"L-{held.id} w-a", "L-ff w-b")

    def events(*logs: LeaseHistory) -> list[tuple[str, str]]:
        return [(x.kind, x.lease) for x in decided(CIRCLE, about, "yes", *logs).events]

    ends = ("release", held.id)
    assert events(held, third, first) == [ends, ("grant", first.id)]
    assert events(held, third, waits(3, "w-a", "src/")) == [ends], "it waits for something else"
    assert events(held, waits(3, "w-a", "docs/", right="path/ab")) == [ends]
    assert events(held, lease(4, "w-d", "docs/a.md"), first) == [ends]


def test_a_request_that_is_in_the_way_ends_too() -> None:
    held = waits(1, "w-b", "docs/")
    decision = decided(CIRCLE, (f"L-{held.id} w-a", "L-ff w-b"), "yes", held)
    assert decision.text == "w-a goes first: the request L-0000 of w-b for docs/ has ended."
