"""What an issue needs of who takes it: labels, a heading of the body, a field of an issue form."""

import pytest

from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.capabilities import fits, needed
from ghp_agents.issues.issue import Issue


def issue(body: str = "", *labels: str) -> Issue:
    return Issue("0a1b2c3d", IssueNumber(1), "An issue", body=body, labels=labels)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (issue(), set()),
        (issue("", "needs:gpu", "bug", "Needs:Rust", "needs:"), {"gpu", "rust"}),
        (issue("Text\n\n## Capabilities\n\n- code\n* `Tests`\n1. docs\n\n## Scope\n- src/"),
         {"code", "tests", "docs"}),
        (issue("### Capabilities\n\ncode, tests,docs\n"), {"code", "tests", "docs"}),
        (issue("### Capabilities\n\n_No response_\n\n### Scope\n\nsrc/"), set()),
        (issue("## capabilities:\ncode", "needs:gpu"), {"code", "gpu"}),
        (issue("It needs Capabilities\ncode"), set()),
    ],
)  # fmt: skip
def test_an_issue_needs_what_its_labels_and_its_body_say(one: Issue, words: set[str]) -> None:
    assert needed(one) == words


def test_who_can_do_all_that_is_needed_fits() -> None:
    wanted = issue("", "needs:gpu", "needs:rust")
    assert fits(wanted, ("Rust", "gpu", "tests"))
    assert not fits(wanted, ("rust",))
    assert fits(issue(), ("rust",))


def test_an_agent_without_configured_capabilities_fits_all() -> None:
    assert fits(issue("", "needs:gpu"), ())
