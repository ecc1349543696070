"""Asking until there is an answer: limits, retries, and a write that is done once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import ExitCode
from ghp_agents.github.api import errors
from ghp_agents.github.api.errors import LimitError, TokenError, UnreachableError
from ghp_agents.github.api.repository import GitHubRepository
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.hubs import SECRET, Script, after, cut, half, limits, page, says

TITLE = {"title": "x"}
MAYBE = {
    "502": says(502, {"message": "Server Error"}),
    "504 as a page": page(504, "<html>"),
    "cut": cut,
    "half": half(201, {"id": 7, "title": "x" * 50}),
}


def waited(clock: ManualClock, act: Callable[[], Any]) -> tuple[Any, float]:
    began = clock.now()
    return act(), clock.now() - began


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize("step", MAYBE.values(), ids=MAYBE)
def test_a_read_that_broke_off_is_tried_again(
    hub: GitHubRepository, script: Script, clock: ManualClock, step: hubs.Step
) -> None:
    script.then(step, step, says(200, {"login": "me"}))
    answer, seconds = waited(clock, lambda: hub.get("/user"))
    assert (answer.body, seconds) == ({"login": "me"}, 3.0)
    assert script.lines == ["GET /user"] * 3


def test_after_the_third_time_it_is_unknown_and_nobody_tries_for_a_moment(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path
) -> None:
    script.then(*[says(502)] * 3)
    with pytest.raises(UnreachableError) as caught:
        hub.get("/user")
    assert caught.value.exit_code is ExitCode.UNKNOWN
    assert str(caught.value) == "GitHub answered 502 (an error on its side) to `GET /user`."
    with pytest.raises(LimitError) as refused:
        hubs.hub(repo, script, clock).get("/user")
    assert str(refused.value) == (
        "GitHub could not be reached a moment ago; this clone may send requests again in 5 s."
    )
    assert len(script.asked) == 3
    clock.wait(5.0)
    script.then(says(200, 1))
    assert hub.get("/user").body == 1
    assert hub.status().paused_until is None


def test_who_is_not_let_through_does_not_make_the_pause_longer(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(*[says(502)] * 3)
    for _ in range(5):
        with pytest.raises(errors.NoAnswerError):
            hub.get("/user")
    assert hub.status().paused_until == clock.now() + 5.0


@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_a_rest_that_github_asks_for_is_waited_for_exactly(
    hub: GitHubRepository, script: Script, clock: ManualClock, verb: str
) -> None:
    script.then(says(429, None, retry_after="17"), says(200, {"id": 1}))
    ask = (lambda: hub.get("x").body) if verb == "GET" else (lambda: hub.write("POST", "x", TITLE))
    body, seconds = waited(clock, ask)
    assert (body, seconds) == ({"id": 1}, 17.0)
    assert len(script.asked) == 2


def test_a_rest_that_is_too_long_is_not_waited_for_but_said(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(403, {"message": "You have exceeded a secondary rate limit."}))
    began = clock.now()
    with pytest.raises(LimitError) as caught:
        hub.get("issues")
    assert clock.now() == began
    assert caught.value.until == began + 60.0
    assert str(caught.value) == (
        "GitHub's secondary rate limit was hit: too many requests at once; this clone may send "
        "requests again in 1 min."
    )
    assert caught.value.exit_code is ExitCode.UNKNOWN


def test_the_primary_limit_is_said_with_its_end_and_no_process_asks_before(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path
) -> None:
    now = clock.now()
    script.then(says(403, {"message": "API rate limit exceeded"}, **limits(0, now + 1_800)))
    for each_hub in (hub, hubs.hub(repo, script, clock)):
        with pytest.raises(LimitError) as caught:
            each_hub.get("issues")
        assert caught.value.until == now + 1_800
        assert str(caught.value) == (
            "GitHub's hourly request limit is used up; this clone may send requests again in 30 "
            "min."
        )
    assert len(script.asked) == 1
    assert hub.status().remaining == 0
    clock.wait(1_800)
    script.then(says(200, []))
    assert hub.get("issues").body == []


def test_the_last_request_of_the_hour_closes_the_door_without_a_refusal(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, 1, **limits(0, clock.now() + 900)))
    assert hub.get("a").body == 1
    with pytest.raises(LimitError):
        hub.get("b")
    assert script.lines == ["GET /repos/acme/widgets/a"]


@pytest.mark.parametrize("variable", ["GHP_RUN", "GHP_SPAWNED"])
def test_runs_and_the_background_leave_the_last_tenth_of_the_hour_to_people(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path, variable: str
) -> None:
    script.then(says(200, 1, **limits(500, clock.now() + 900)), says(200, 2))
    assert hub.get("a").body == 1
    ws = hubs.workspace(repo, clock, **{variable: "1"})
    with pytest.raises(LimitError) as caught:
        GitHubRepository(ws, hubs.access(script.address)).get("b")
    assert str(caught.value) == (
        "GitHub's hourly request limit is nearly used up, and the rest is for people; this clone "
        "may send requests again in 15 min."
    )
    assert hub.get("b").body == 2


def test_the_clones_of_a_machine_share_the_limits_of_a_token(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path
) -> None:
    script.then(says(403, {"message": "API rate limit exceeded"}, **limits(0, clock.now() + 900)))
    with pytest.raises(LimitError):
        hub.get("a")
    git(repo, "clone", "--quiet", str(repo), str(repo.with_name("other")))
    with pytest.raises(LimitError):
        hubs.hub(repo.with_name("other"), script, clock).get("a")
    assert len(script.asked) == 1


def test_limits_again_and_again_are_waited_for_as_long_as_the_command_has_time(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(*[says(429, None, retry_after="14")] * 3)
    began = clock.now()
    with pytest.raises(LimitError):
        hub.get("x")
    assert clock.now() - began == 28.0  # of 30
    assert len(script.asked) == 3


def test_another_token_has_its_own_limits(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path
) -> None:
    script.then(says(429), says(200, 1))
    with pytest.raises(LimitError):
        hub.get("x")
    other = GitHubRepository(hubs.workspace(repo, clock), hubs.access(script.address, "ghp_other"))
    assert other.get("x").body == 1


def test_a_refused_token_is_not_tried_again_and_again(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(401, {"message": "Bad credentials"}), says(200, 1))
    with pytest.raises(TokenError) as caught:
        hub.get("x")
    assert str(caught.value) == (
        "GitHub answered 401 to `GET /repos/acme/widgets/x`: Bad credentials."
    )
    with pytest.raises(TokenError):
        hub.get("x")
    assert len(script.asked) == 1
    clock.wait(60.0)
    assert hub.get("x").body == 1


def test_no_is_not_asked_twice(hub: GitHubRepository, script: Script) -> None:
    script.then(says(404, {"message": "Not Found"}))
    with pytest.raises(errors.MissingError):
        hub.get("issues/9?x=1")
    assert script.left == 0
    assert len(script.asked) == 1


def test_a_server_that_repeats_the_token_does_not_get_it_printed(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(says(422, {"message": f"Bad {SECRET}"}))
    with pytest.raises(errors.InvalidError) as caught:
        hub.get("x")
    assert caught.value.message == "Bad ***"
    assert SECRET not in f"{caught.value} {caught.value.hint} {caught.value!r}"


# ---------------------------------------------------------------- writing


class Store:
    """What the server has stored, and how often somebody looked."""

    def __init__(self) -> None:
        self.found: Any = None
        self.looks = 0

    def find_existing(self) -> Any:
        self.looks += 1
        return self.found

    def keep(self) -> None:
        self.found = {"id": 7}


@pytest.mark.parametrize("step", MAYBE.values(), ids=MAYBE)
def test_a_write_that_was_stored_before_the_failure_is_found_and_not_sent_again(
    hub: GitHubRepository, script: Script, step: hubs.Step
) -> None:
    store = Store()
    script.then(after(store.keep, step))
    assert hub.write("POST", "issues", TITLE, find_existing=store.find_existing) == {"id": 7}
    assert script.lines == ["POST /repos/acme/widgets/issues"]


@pytest.mark.parametrize("step", MAYBE.values(), ids=MAYBE)
def test_a_write_that_was_not_stored_is_sent_again(
    hub: GitHubRepository, script: Script, step: hubs.Step
) -> None:
    store = Store()
    script.then(step, step, says(201, {"id": 8}))
    assert hub.write("POST", "issues", TITLE, find_existing=store.find_existing) == {"id": 8}
    assert (len(script.asked), store.looks) == (3, 2)


def test_what_a_list_shows_seconds_later_is_not_sent_twice(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    store, began = Store(), clock.now()
    script.then(after(store.keep, says(502)))

    def find_existing() -> Any:
        return store.find_existing() if clock.now() >= began + 4 else None

    assert hub.write("POST", "issues", TITLE, find_existing=find_existing) == {"id": 7}
    assert len(script.asked) == 1


def test_a_write_that_fails_for_good_is_looked_for_once_more_and_may_have_happened(
    hub: GitHubRepository, script: Script
) -> None:
    store = Store()
    script.then(*[says(502)] * 3)
    with pytest.raises(UnreachableError) as caught:
        hub.write("POST", "issues", TITLE, find_existing=store.find_existing)
    assert caught.value.happened
    assert (len(script.asked), store.looks) == (3, 3)


@pytest.mark.slow
def test_the_last_look_finds_what_the_last_try_stored(
    hub: GitHubRepository, script: Script
) -> None:
    store = Store()
    script.then(says(502), says(502), after(store.keep, says(502)))
    assert hub.write("POST", "issues", TITLE, find_existing=store.find_existing) == {"id": 7}


def test_a_post_that_nobody_can_find_is_not_sent_again(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(says(502))
    with pytest.raises(UnreachableError) as caught:
        hub.write("POST", "issues", TITLE)
    assert caught.value.happened
    assert len(script.asked) == 1


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "DELETE"])
def test_what_names_the_state_that_shall_be_is_said_again(
    hub: GitHubRepository, script: Script, verb: str
) -> None:
    script.then(says(502), says(200, {"state": "closed"}))
    assert hub.write(verb, "issues/1", {"state": "closed"}) == {"state": "closed"}


@pytest.mark.parametrize("status", [404, 410])
def test_what_is_gone_after_a_broken_off_deletion_was_deleted(
    hub: GitHubRepository, script: Script, status: int
) -> None:
    script.then(cut, says(status))
    assert hub.write("DELETE", "labels/x") is None


def test_what_was_not_there_to_be_deleted_is_said(hub: GitHubRepository, script: Script) -> None:
    script.then(says(404))
    with pytest.raises(errors.MissingError):
        hub.write("DELETE", "labels/x")


def test_what_exists_after_a_broken_off_creation_was_created(
    hub: GitHubRepository, script: Script
) -> None:
    looks = iter([None, {"name": "x"}])  # what was stored shows a moment later
    script.then(cut, says(422, {"message": "Failed", "errors": [{"code": "already_exists"}]}))
    created = hub.write("POST", "labels", {"name": "x"}, find_existing=lambda: next(looks))
    assert created == {"name": "x"}


def test_what_existed_before_is_an_error(hub: GitHubRepository, script: Script) -> None:
    store = Store()
    store.keep()
    script.then(says(422, {"message": "Failed", "errors": [{"code": "already_exists"}]}))
    with pytest.raises(errors.InvalidError):
        hub.write("POST", "labels", {"name": "x"}, find_existing=store.find_existing)
    assert store.looks == 0


def test_a_write_that_was_limited_was_not_done_and_is_not_looked_for(
    hub: GitHubRepository, script: Script
) -> None:
    store = Store()
    script.then(says(403, {"message": "secondary rate limit"}, retry_after="2"), says(201, 1))
    assert hub.write("POST", "issues", TITLE, find_existing=store.find_existing) == 1
    assert store.looks == 0


def test_who_cannot_look_says_that_it_may_have_happened(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(cut, *[says(502)] * 3)
    with pytest.raises(UnreachableError) as caught:
        hub.write("POST", "issues", TITLE, find_existing=lambda: hub.get("issues").body)
    assert caught.value.happened
    assert script.lines[0] == "POST /repos/acme/widgets/issues"
    assert script.lines[1:] == ["GET /repos/acme/widgets/issues"] * 3


def test_a_limit_after_a_broken_off_write_does_not_say_that_nothing_happened(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(cut, says(429))
    with pytest.raises(LimitError) as caught:
        hub.write("PATCH", "issues/1", TITLE)
    assert caught.value.happened


def test_who_may_not_write_is_told_at_once_and_takes_no_turn(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path
) -> None:
    script.then(says(429, None, retry_after="600"), says(201, 1))
    with pytest.raises(LimitError):
        hub.get("issues")
    began = clock.now()
    with pytest.raises(LimitError):
        hub.write("POST", "issues", TITLE)
    assert clock.now() == began
    assert not (hubs.workspace(repo).cache_dir / "hub/written").exists()


def test_writes_of_all_processes_are_a_second_apart(
    hub: GitHubRepository, script: Script, clock: ManualClock, repo: Path
) -> None:
    times: list[float] = []
    step = after(lambda: times.append(clock.now()), says(201, 1))
    script.then(step, step, step)
    began = clock.now()
    for each_hub in (hub, hubs.hub(repo, script, clock), hub):
        each_hub.write("POST", "issues", TITLE)
    assert [time - began for time in times] == [0.0, 1.0, 2.0]


def test_reads_do_not_wait_for_writes(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(201, 1), says(200, 1))
    hub.write("POST", "issues", TITLE)
    _, seconds = waited(clock, lambda: hub.get("issues"))
    assert seconds == 0.0


def test_an_answer_without_content_is_none(hub: GitHubRepository, script: Script) -> None:
    script.then(says(204))
    assert hub.write("DELETE", "issues/1/lock") is None
