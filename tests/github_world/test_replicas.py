"""Reads of the stand-in may lag behind writes, by kinds; everything else knows all at once."""

from typing import Any

from tests.support.clock import ManualClock
from tests.support.github import ADMIN, TOKENS, GitHub
from tests.support.replicas import behind


def read(github: GitHub, path: str) -> tuple[int, Any]:
    """What a client is answered; `act` tells the truth."""
    address = f"/repos/{github.repository}/{path}"
    response, _ = github.proxy.handle(TOKENS[ADMIN], "GET", address, None, "", apart=False)
    assert response
    return response.status, response.body


def labels(response: tuple[int, Any]) -> list[str]:
    issue = response[1][0] if isinstance(response[1], list) else response[1]
    return [label["name"] for label in issue["labels"]]


def test_a_read_answers_as_things_stood_a_while_ago(odd: GitHub) -> None:
    odd.proxy.clock = clock = ManualClock()
    odd.replicas.lag = behind(one=1.5, lists=3, events=10)
    at = f"issues/{odd.issue('One')}"
    assert (read(odd, at)[0], read(odd, "issues")) == (404, (200, []))
    assert odd.act(ADMIN, "GET", at)["title"] == "One"
    clock.wait(4)
    assert labels(read(odd, at)) == labels(read(odd, "issues")) == []
    labelled = odd.act(ADMIN, "POST", f"{at}/labels", {"labels": ["agent:a"]})
    assert [label["name"] for label in labelled] == ["agent:a"]  # a write knows itself
    clock.wait(2)
    assert (labels(read(odd, at)), labels(read(odd, "issues"))) == (["agent:a"], [])
    clock.wait(2)
    assert labels(read(odd, "issues")) == ["agent:a"]
    assert read(odd, f"{at}/events") == read(odd, "issues/events") == (200, [])
    clock.wait(7)
    assert [event["event"] for event in read(odd, f"{at}/events")[1]] == ["labeled"]


def test_comments_and_reactions_are_as_late_as_their_lists(odd: GitHub) -> None:
    odd.proxy.clock = clock = ManualClock()
    number = odd.issue("One")
    odd.replicas.lag = behind(lists=5)
    comment = odd.act(ADMIN, "POST", f"issues/{number}/comments", {"body": "/agent status"})
    assert read(odd, f"issues/{number}")[1]["comments"] == 1
    lists = (f"issues/{number}/comments", "issues/comments")
    assert [read(odd, path)[1] for path in lists] == [[], []]
    clock.wait(6)
    at = f"issues/comments/{comment['id']}/reactions"
    odd.act(ADMIN, "POST", at, {"content": "+1"})
    comment = read(odd, lists[0])[1][0]
    assert (comment["body"], comment["reactions"]["+1"]) == ("/agent status", 0)
    clock.wait(6)
    assert read(odd, lists[1])[1][0]["reactions"]["+1"] == 1
