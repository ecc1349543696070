"""What an agent is told about changes in other clones."""

import pytest

from ghp_agents.hotpath import clash_words
from ghp_agents.hotpath.changes_elsewhere import ChangesReport, RangeConflict

NOW = 1_750_000_000.0


def clash(kind: str, *, is_deleted: bool = False, issue: int | None = 5) -> RangeConflict:
    report = ChangesReport("worker-2", 1, "c" * 12, issue, NOW - 185, NOW, "", "10,3", is_deleted)
    conflict = RangeConflict(report, kind, is_certain=True)
    conflict.start, conflict.end, conflict.their_start, conflict.their_end = 12, 12, 10, 12
    return conflict


ABOUT = "in another clone for #5, as reported 3 minutes ago."
CASES = {
    "lines": "This edit of a.py would conflict at your line 12. worker-2 has changed lines 10-12 "
    f"of it (as numbered where your branch left main) {ABOUT}",
    "added": f"worker-2 also created a.py {ABOUT}",
    "unknown": f"worker-2 has also changed a.py {ABOUT} This clone cannot tell whether both "
    "changes merge.",
    "binary": f"a.py is binary, so git cannot merge it, and worker-2 has changed it {ABOUT}",
    "deleted": f"Deleting a.py would conflict: worker-2 changed its lines 10-12 {ABOUT}",
}


@pytest.mark.parametrize("kind", CASES)
def test_the_words_say_who_what_for_which_issue_and_how_old_the_report_is(kind: str) -> None:
    assert clash_words.why(clash(kind), "a.py", NOW) == CASES[kind]


def test_a_deletion_elsewhere_is_named() -> None:
    deleted = clash("deleted", is_deleted=True, issue=None)
    assert clash_words.why(deleted, "a\nb", NOW) == (
        "This edit of «a�b» would conflict: worker-2 deleted the file in another clone, as "
        "reported 3 minutes ago."
    )


@pytest.mark.parametrize(
    ("age", "words"),
    [(-5, "a moment"), (0, "a moment"), (1, "1 second"), (119, "1 minute"), (7_300, "2 hours"),
     (90_000, "1 day")],
)  # fmt: skip
def test_an_age_is_in_one_unit(age: float, words: str) -> None:
    assert f"as reported {words} ago" in clash_words.why(clash("added"), "a", NOW - 185 + age)


def test_the_hint_names_what_can_be_done() -> None:
    assert clash_words.hint(clash("lines"), "a.py") == (
        "Edit other lines, wait until worker-2 finishes its issue, ask: `ghp agent-escalate --file "
        "a.py`, or edit anyway after `ghp agent-check --override REASON a.py`, which notifies "
        "worker-2."
    )
    assert clash_words.hint(clash("binary"), "a.py").startswith("Work on something else, ")
