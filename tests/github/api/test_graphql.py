"""GraphQL: its data, its errors inside of an answer that says 200, its own budget."""

from typing import Any

import pytest

from ghp_agents.core.errors import ExitCode
from ghp_agents.github.api import errors
from ghp_agents.github.api.errors import HubError, LimitError, UnreachableError
from ghp_agents.github.api.repository import GitHubRepository
from tests.support.clock import ManualClock
from tests.support.hubs import Script, cut, limits, says

QUERY = "query($n: Int!) { x(n: $n) { id } }"
MUTATION = "mutation { addSubIssue { id } }"


@pytest.mark.slow
def test_a_question_carries_its_variables(hub: GitHubRepository, script: Script) -> None:
    script.then(says(200, {"data": {"x": {"id": "a"}}}))
    assert hub.graphql(QUERY, {"n": 3}) == {"x": {"id": "a"}}
    [request] = script.asked
    assert (request.line, request.body) == (
        "POST /graphql",
        {"query": QUERY, "variables": {"n": 3}},
    )


@pytest.mark.slow
def test_a_question_that_broke_off_is_asked_again(hub: GitHubRepository, script: Script) -> None:
    script.then(cut, says(200, {"data": {"x": None}}))
    assert hub.graphql(QUERY) == {"x": None}


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        ({"type": "NOT_FOUND", "message": "No."}, errors.MissingError, ExitCode.ERROR),
        ({"type": "FORBIDDEN", "message": "No."}, errors.ForbiddenError, ExitCode.REFUSED),
        ({"type": "INSUFFICIENT_SCOPES", "message": "No."}, errors.ForbiddenError,
         ExitCode.REFUSED),
        ({"message": "No."}, errors.InvalidError, ExitCode.ERROR),
    ],
)  # fmt: skip
def test_an_error_inside_an_answer_is_an_error(
    hub: GitHubRepository, script: Script, error: Any, kind: type[HubError], code: ExitCode
) -> None:
    script.then(says(200, {"data": None, "errors": [error]}))
    with pytest.raises(kind) as caught:
        hub.graphql(QUERY)
    assert caught.value.exit_code is code
    assert str(caught.value) == "GitHub rejected a GraphQL query: No."


@pytest.mark.parametrize("response", [None, [], "x", {"errors": "x"}, {"errors": [5]}])
def test_an_answer_that_makes_no_sense_is_an_error(
    hub: GitHubRepository, script: Script, response: Any
) -> None:
    script.then(*[says(200, response)] * 3)
    with pytest.raises((errors.InvalidError, UnreachableError)):
        hub.graphql(QUERY)


def test_its_limit_closes_graphql_and_leaves_the_rest_open(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    headers = limits(0, clock.now() + 900)
    script.then(
        says(
            200, {"errors": [{"type": "RATE_LIMITED"}]}, x_ratelimit_resource="graphql", **headers
        ),
        says(200, 1),
    )
    for _ in range(2):
        with pytest.raises(LimitError) as caught:
            hub.graphql(QUERY)
        assert caught.value.until == clock.now() + 900
    assert hub.get("issues").body == 1
    assert len(script.asked) == 2


def test_a_mutation_is_a_write_a_second_after_the_last_one(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, {"data": 1}), says(200, {"data": 2}))
    began = clock.now()
    assert [hub.graphql(MUTATION), hub.graphql(MUTATION)] == [1, 2]
    assert clock.now() - began == 1.0


def test_a_mutation_that_broke_off_is_looked_for(hub: GitHubRepository, script: Script) -> None:
    script.then(cut)
    assert hub.graphql(MUTATION, find_existing=lambda: {"x": 1}) == {"x": 1}


def test_a_mutation_that_nobody_can_find_is_not_said_again(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(cut)
    with pytest.raises(UnreachableError) as caught:
        hub.graphql(MUTATION)
    assert caught.value.happened
    assert len(script.asked) == 1
