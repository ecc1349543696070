"""The rule behind all guards: which rule says what, and in which order."""

from collections.abc import Sequence
from typing import Any

import pytest

from ghp_agents.claims.claim import fence_of
from ghp_agents.core.ids import Timestamp
from ghp_agents.hotpath.policy import DENY, EditRequest, Rule, UnsureError, Verdict, decide
from ghp_agents.locks.lock import Lock
from tests.support.rulings import EARLIER, NOW, book, case, leased, scoped, shared

PATH = "src/parser.py"
SRC = "/src/"
Said = tuple[Rule, Sequence[str]]

TAKEN = {"12": ["worker-2", 1, 5, EARLIER, "worker-1 is dead", "takeover", False]}
FENCED = {"issue": 12, "generation": 4, "epoch": 1}
HANDED = {"issue": None, "handed": 12, "epoch": 1}
TOUCHED = ("worker-2", EARLIER)
LEASED = leased("worker-2", SRC)
MINE = leased("worker-1", SRC)
APPROVED = leased("worker-1", SRC, approved=True)
SHARED = shared(SRC)
SCOPED = scoped("worker-2", 12, SRC)
ASSIGNED = scoped("worker-2", 14, SRC, since="")


def said(verdict: Verdict) -> tuple[str, str]:
    return verdict.word, verdict.kind


@pytest.mark.parametrize(
    ("rules", "facts", "expected"),
    [
        # Nothing is said of the path.
        ([], {}, ("allow", "")),
        ([leased("worker-2", "/lib/")], {}, ("allow", "")),
        # 0: a former holder, another's worktree.
        ([], {"presence": FENCED}, ("deny", "fenced")),
        ([], {"presence": FENCED | {"generation": 5}}, ("deny", "fenced")),
        ([], {"presence": FENCED | {"generation": 6}}, ("allow", "")),
        ([], {"presence": FENCED | {"issue": 13}}, ("allow", "")),
        ([], {"presence": {"issue": 12, "epoch": 1}}, ("allow", "")),
        ([], {"presence": FENCED, "agent": "worker-2"}, ("allow", "")),
        ([], {"presence": FENCED | {"epoch": 0}, "agent": "worker-2"}, ("deny", "fenced")),
        ([], {"presence": HANDED}, ("deny", "fenced")),
        ([], {"presence": HANDED | {"handed": 13}}, ("allow", "")),
        ([], {"presence": HANDED, "agent": "worker-2"}, ("allow", "")),
        ([], {"worktree_of": "worker-2"}, ("deny", "worktree")),
        ([], {"worktree_of": "worker-1"}, ("allow", "")),
        # 1: leases, of which the first one counts.
        ([LEASED], {}, ("deny", "lease")),
        ([LEASED], {"dead": ["worker-2"]}, ("allow", "")),
        ([LEASED], {"agent": "worker-2"}, ("allow", "")),
        ([MINE, LEASED], {}, ("allow", "")),
        ([LEASED, MINE], {}, ("deny", "lease")),
        ([LEASED, MINE], {"dead": ["worker-2"]}, ("allow", "")),
        ([leased("worker-2", SRC), leased("worker-3", SRC)], {"dead": ["worker-2"]},
         ("deny", "lease")),
        ([leased("Ann", SRC, is_person=True)], {"dead": ["Ann"]}, ("deny", "lease")),
        ([leased("worker-1", SRC, is_person=True)], {}, ("deny", "lease")),
        ([leased("worker-2", SRC, until=NOW)], {}, ("allow", "")),
        ([leased("worker-2", SRC, until=NOW + 1)], {}, ("deny", "lease")),
        ([leased("worker-1", SRC, until=NOW), LEASED], {}, ("deny", "lease")),
        ([leased("worker-2", SRC, "!/src/parser.py")], {}, ("allow", "")),
        ([leased("worker-2", "!/src/parser.py", SRC)], {}, ("deny", "lease")),
        # 1b: somebody edits it, and did not ask.
        ([], {"touch": TOUCHED}, ("deny", "implicit")),
        ([MINE], {"touch": TOUCHED}, ("deny", "implicit")),
        ([APPROVED], {"touch": TOUCHED}, ("allow", "")),
        # 2: shared.
        ([SHARED], {}, ("needs-approval", "shared")),
        ([SHARED], {"agent": "lead"}, ("allow", "shared")),
        ([MINE, SHARED], {}, ("needs-approval", "shared")),
        ([APPROVED, SHARED], {}, ("allow", "shared")),
        ([APPROVED, SHARED, SCOPED], {}, ("allow", "shared")),
        ([leased("worker-1", SRC, approved=True, until=NOW), SHARED], {},
         ("needs-approval", "shared")),
        ([leased("worker-2", SRC, approved=True), SHARED], {"dead": ["worker-2"]},
         ("needs-approval", "shared")),
        # 3: the scope of another's issue; a file in the scopes of two belongs to both.
        ([SCOPED], {}, ("deny", "scope")),
        ([SCOPED], {"dead": ["worker-2"]}, ("allow", "")),
        ([scoped("worker-1", 12, SRC)], {}, ("allow", "")),
        ([scoped("worker-1", 11, SRC), SCOPED], {}, ("allow", "")),
        ([SCOPED, scoped("worker-1", 13, SRC)], {}, ("allow", "")),
        ([MINE, SCOPED], {}, ("deny", "scope")),
        ([APPROVED, SCOPED], {}, ("allow", "")),
        ([scoped("Ann", 12, SRC, is_person=True, epoch=0)], {}, ("deny", "scope")),
        # An issue may be assigned to several agents; a claim, which comes first, outranks that.
        ([ASSIGNED], {}, ("deny", "scope")),
        ([ASSIGNED], {"dead": ["worker-2"]}, ("allow", "")),
        ([ASSIGNED, scoped("worker-1", 14, SRC, since="")], {}, ("allow", "")),
        ([scoped("worker-1", 12, SRC), ASSIGNED], {}, ("allow", "")),
        ([SCOPED, scoped("worker-1", 14, SRC, since="")], {}, ("deny", "scope")),
        # The order: what comes first says it.
        ([LEASED, SHARED, SCOPED],
         {"presence": FENCED, "worktree_of": "worker-3", "touch": TOUCHED}, ("deny", "fenced")),
        ([LEASED, SHARED, SCOPED], {"worktree_of": "worker-3", "touch": TOUCHED},
         ("deny", "worktree")),
        ([LEASED, SHARED, SCOPED], {"touch": TOUCHED}, ("deny", "lease")),
        ([SHARED, SCOPED], {"touch": TOUCHED}, ("deny", "implicit")),
        ([SHARED, SCOPED], {}, ("needs-approval", "shared")),
        ([SHARED, SCOPED], {"agent": "lead"}, ("allow", "shared")),
        ([LEASED, SHARED], {"agent": "lead"}, ("deny", "lease")),
        # What nobody can lease is still shared, and is still in another's worktree.
        ([LEASED, SCOPED], {"touch": TOUCHED, "is_exempt": True}, ("allow", "")),
        ([LEASED, SHARED, SCOPED], {"is_exempt": True}, ("needs-approval", "shared")),
        ([], {"worktree_of": "worker-2", "is_exempt": True}, ("deny", "worktree")),
    ],
)  # fmt: skip
def test_the_first_rule_that_matches_decides(
    rules: list[Said], facts: dict[str, Any], expected: tuple[str, str]
) -> None:
    policy_book = book(*rules, claims=TAKEN, orchestrators=["lead"])
    verdict = decide(policy_book, PATH, case(**facts))
    assert said(verdict) == expected
    assert verdict.is_refused == (expected[0] != "allow")
    assert bool(verdict.why) == bool(verdict.next) == verdict.is_refused


@pytest.mark.parametrize(
    ("rules", "facts", "kind"),
    [
        ([LEASED], {}, "lease"),
        ([], {"touch": TOUCHED}, "implicit"),
        ([SHARED], {}, "shared"),
        ([SCOPED], {}, "scope"),
        ([leased("Ann", SRC, is_person=True)], {}, ""),
        ([], {"worktree_of": "worker-2"}, ""),
    ],
)
def test_a_person_is_told_and_never_refused(
    rules: list[Said], facts: dict[str, Any], kind: str
) -> None:
    verdict = decide(book(*rules), PATH, case("Ann", is_person=True, **facts))
    assert said(verdict) == ("allow", kind)
    assert bool(verdict.why) == bool(kind)


def test_an_edit_in_the_scopes_of_two_issues_is_decided_by_merging() -> None:
    conflict = Verdict(DENY, PATH, "conflict", "worker-2", "", "It would conflict.", "Wait.")
    own = scoped("worker-1", 13, SRC)
    for rules, expected in (([own], ("allow", "")), ([SCOPED, own], ("deny", "conflict"))):
        verdict = decide(book(*rules), PATH, case(reported=lambda: conflict))
        assert said(verdict) == expected


def test_a_person_with_the_name_of_an_orchestrator_is_none() -> None:
    policy_book = book(SHARED, orchestrators=["lead"])
    assert decide(policy_book, PATH, case("lead", is_person=True)).why


@pytest.mark.parametrize("rule", [LEASED, SCOPED])
def test_what_is_not_known_is_not_guessed(rule: Said) -> None:
    with pytest.raises(UnsureError):
        decide(book(rule), PATH, case(unknown=["worker-2"]))


def test_what_does_not_matter_need_not_be_known() -> None:
    policy_book = book(MINE, LEASED, scoped("worker-2", 12, "/lib/"))
    assert said(decide(policy_book, PATH, case(unknown=["worker-2"]))) == ("allow", "")


# ------------------------------------------------------------------------------ its words


def test_who_has_a_later_lease_of_it_is_told_that_they_are_in_conflict() -> None:
    verdict = decide(book(LEASED, MINE), PATH, case("worker-1"))
    assert verdict.why.endswith(
        f" Your own lease {MINE[0].label} conflicts with it and came later."
    )
    assert "`ghp agent-leases`" in verdict.next
    assert decide(book(MINE, LEASED), PATH, case("worker-1")).word == "allow"


def test_a_lease_is_explained() -> None:
    assert decide(book(LEASED), PATH, case()) == Verdict(
        "deny", PATH, "lease", "worker-2", EARLIER,
        "src/parser.py is leased by worker-2 since 10:31 UTC (L-3f9a). "
        "worker-2 gave this reason: «new parser».",
        "Work on something else, wait for it with `ghp agent-lease src/parser.py --wait`, or ask: "
        "`ghp agent-escalate --file src/parser.py`.",
    )  # fmt: skip


def words(verdict: Verdict) -> tuple[str, str]:
    return verdict.why, verdict.next


def test_the_other_rules_are_explained() -> None:
    assert words(decide(book(), PATH, case(touch=TOUCHED))) == (
        "worker-2 has been editing src/parser.py in this worktree since 10:31 UTC.",
        "Work on something else until worker-2 finishes its issue, ask: `ghp agent-escalate --file "
        "src/parser.py`, or edit anyway after `ghp agent-check --override REASON src/parser.py`, "
        "which notifies worker-2.",
    )
    assert words(decide(book(SHARED), PATH, case())) == (
        "src/parser.py is shared (see `agents.shared`), so a change needs approval.",
        "Request it with `ghp agent-lease src/parser.py`; a person or an orchestrator approves it.",
    )
    assert words(decide(book(SCOPED), PATH, case())) == (
        "src/parser.py is in the scope of #12 «Parse it», which worker-2 has held since 10:31 UTC.",
        "Keep to the scope of your own issue, or ask: `ghp agent-escalate --file src/parser.py`.",
    )
    assert words(decide(book(ASSIGNED), PATH, case())) == (
        "src/parser.py is in the scope of #14 «Parse it», which is assigned to worker-2.",
        "Keep to the scope of your own issue, or ask: `ghp agent-escalate --file src/parser.py`.",
    )
    assert words(decide(book(), PATH, case(worktree_of="worker-2"))) == (
        "src/parser.py is in the worktree of worker-2, which is working there.",
        "Edit the copy in your own worktree.",
    )


def test_an_older_time_has_its_day_and_a_person_is_called_one() -> None:
    rule = leased("Ann", SRC, is_person=True, since="2025-06-01T09:00:00Z", text="")
    assert decide(book(rule), PATH, case()).why == (
        "src/parser.py is leased by «Ann» (a person) since 2025-06-01 09:00 UTC (L-3f9a)."
    )


def test_a_path_in_a_command_is_one_word_for_a_shell() -> None:
    refused = decide(book(LEASED), "src/it's; rm -rf ~", case())
    assert "`ghp agent-lease PATH --wait`" in refused.next
    assert refused.why.startswith("«src/it's; rm -rf ~» is leased by worker-2 ")
    assert "agent-lease PATH --wait" in decide(book(leased("worker-2", "*")), "-x", case()).next


# ---------------------------------------------------------------------- as claims have it


@pytest.mark.parametrize("holder", ["worker-1", "worker-2", "Ann", None])
@pytest.mark.parametrize("epoch", [0, 1, 2])
@pytest.mark.parametrize("generation", [1, 2, 3])
@pytest.mark.parametrize(
    "presence",
    [
        {}, {"issue": 12}, {"issue": 12, "generation": 2, "epoch": 1}, {"issue": None},
        {"issue": 12, "generation": 2, "epoch": 2}, {"issue": 13, "generation": 2, "epoch": 1},
        {"issue": 12, "generation": "2", "epoch": 1},
    ],
)  # fmt: skip
def test_the_fence_is_the_one_of_claims(
    holder: str | None, epoch: int, generation: int, presence: dict[str, Any]
) -> None:
    lease = Lock("issue/12", holder, generation, epoch, Timestamp(EARLIER), "n", "why")
    fence = fence_of({12: lease}, "worker-1", presence, "c1")
    claims = {"12": [holder, epoch, generation, EARLIER, "why", "claim", False]}
    verdict = decide(book(claims=claims), PATH, case(presence=presence))
    if fence is None:
        assert said(verdict) == ("allow", "")
    else:
        expected = (fence.holder, fence.since, fence.words, fence.hint)
        assert (verdict.holder, verdict.since, *words(verdict)) == expected


def test_a_case_says_who_wants_what() -> None:
    one: EditRequest = case("worker-1", touch=TOUCHED)
    assert (one.agent, one.is_person, one.now, one.touch) == ("worker-1", False, NOW, TOUCHED)
