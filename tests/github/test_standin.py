"""The stand-in for GitHub behaves as GitHub does where our code depends on it."""

from tests.support.github import ADMIN, WORKER_1, GitHub


def test_a_first_look(github: GitHub) -> None:
    number = github.issue("One", labels=["agent:worker-1"], assignees=[WORKER_1])
    events = github.act(ADMIN, "GET", f"issues/{number}/events")
    assert [(e["event"], e["actor"]["login"]) for e in events] == [
        ("labeled", ADMIN),
        ("assigned", ADMIN),
    ]
