"""The rate limits of GitHub: what stops requests, and how long a call waits."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.github.api import rate_limit as gauge
from ghp_agents.github.api.rate_limit import Backoff, Budget, Deadline, Meter, RateLimits, Waits
from ghp_agents.github.api.responses import Limit
from tests.support.clock import ManualClock
from tests.support.house import CHECKOUT

NOW = 1_000.0
TOLD = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "40", "x-ratelimit-reset": "4600"}


def test_an_answer_tells_the_budget_of_its_resource() -> None:
    limits = gauge.heard(RateLimits(), TOLD, NOW)
    limits = gauge.heard(limits, {**TOLD, "x-ratelimit-resource": "search"}, NOW + 1)
    assert limits == RateLimits(
        {"core": Budget(5000, 40, 4600.0), "search": Budget(5000, 40, 4600.0)}, answered=NOW + 1
    )


def test_of_answers_that_overtake_each_other_the_least_counts() -> None:
    limits = gauge.heard(RateLimits(), TOLD, NOW)
    limits = gauge.heard(limits, {**TOLD, "x-ratelimit-remaining": "41"}, NOW)
    assert limits.budgets["core"].remaining == 40


def test_a_new_hour_is_full_again_and_an_answer_of_the_old_one_changes_nothing() -> None:
    new = {**TOLD, "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "8200"}
    limits = gauge.heard(gauge.heard(RateLimits(), TOLD, NOW), new, NOW)
    assert limits.budgets["core"] == Budget(5000, 4999, 8200.0)
    assert gauge.heard(limits, TOLD, NOW).budgets["core"] == Budget(5000, 4999, 8200.0)


def test_a_reset_is_told_in_our_own_time() -> None:
    assert gauge.heard(RateLimits(), TOLD, NOW, skew=30.0).budgets["core"].resets == 4630.0


def test_nobody_asks_of_a_budget_that_is_used_up_until_it_is_full_again() -> None:
    limits = gauge.heard(RateLimits(), {**TOLD, "x-ratelimit-remaining": "0"}, NOW)
    assert gauge.closed(limits, "core", NOW) == Backoff("primary", 4600.0)
    assert gauge.closed(limits, "graphql", NOW) is None
    assert gauge.closed(limits, "core", 4600.0) is None


def test_a_primary_limit_closes_its_own_budget_alone() -> None:
    headers = {**TOLD, "x-ratelimit-resource": "graphql"}
    limits = gauge.rested(RateLimits(), Limit("primary", 600.0), headers, NOW)
    assert gauge.closed(limits, "graphql", NOW) == Backoff("primary", 1600.0)
    assert gauge.closed(limits, "core", NOW) is None


def test_a_secondary_limit_closes_everything_for_as_long_as_github_asks() -> None:
    limits = gauge.rested(RateLimits(), Limit("secondary", 30.0), {}, NOW)
    assert gauge.closed(limits, "core", NOW) == Backoff("secondary", 1030.0)
    assert gauge.closed(limits, "graphql", 1029.9) == Backoff("secondary", 1030.0)
    assert gauge.closed(limits, "core", 1030.0) is None


def test_where_github_names_no_time_the_rest_is_a_minute_and_grows() -> None:
    limits, rests = RateLimits(), []
    for _ in range(6):
        limits = gauge.rested(limits, Limit("secondary", None), {}, NOW)
        assert limits.pause
        rests.append(limits.pause.until - NOW)
        limits = limits._replace(pause=None)
    assert rests == [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]


def test_who_cannot_reach_github_keeps_the_others_from_trying_for_a_moment_that_grows() -> None:
    limits, rests = RateLimits(), []
    for _ in range(6):
        limits = gauge.lost(limits, NOW)
        assert limits.pause
        assert limits.pause.kind == "outage"
        rests.append(limits.pause.until - NOW)
        limits = limits._replace(pause=None)
    assert rests == [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]


@pytest.mark.parametrize("kind", ["outage", "token"])
def test_an_answer_ends_a_pause_that_we_made_ourselves(kind: str) -> None:
    limits = RateLimits(pause=Backoff(kind, NOW + 50), strikes=3)
    assert gauge.heard(limits, {}, NOW) == RateLimits(answered=NOW)


def test_an_answer_that_was_on_its_way_does_not_end_a_rest_that_github_asked_for() -> None:
    limits = gauge.rested(RateLimits(), Limit("secondary", 30.0), {}, NOW)
    assert gauge.closed(gauge.heard(limits, TOLD, NOW + 1), "core", NOW + 1)
    assert gauge.heard(limits, {}, NOW + 30) == RateLimits(answered=NOW + 30)


def test_of_two_rests_the_longer_counts() -> None:
    limits = gauge.rested(RateLimits(), Limit("secondary", 90.0), {}, NOW)
    limits = gauge.rested(limits, Limit("secondary", 10.0), {}, NOW + 1)
    assert limits.pause == Backoff("secondary", NOW + 90.0)


def test_a_refused_token_is_left_alone_for_a_minute() -> None:
    assert gauge.unwelcome(RateLimits(), NOW).pause == Backoff("token", NOW + 60.0)


@pytest.mark.parametrize(
    "limits",
    [
        RateLimits(),
        RateLimits({"core": Budget(5000, 0, 4600.5)}, Backoff("secondary", 3.5), 2, 9.0),
    ],
)
def test_what_is_stored_is_read_again(limits: RateLimits) -> None:
    assert gauge.from_json(json.loads(json.dumps(limits._asdict()))) == limits


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["budgets", "pause", "strikes", "answered", "core"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_lies_in_the_file_it_is_read_as_something(data: Any) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "a.json").write_text(json.dumps(data))
        assert isinstance(Meter(Path(folder, "a.json")).read(), RateLimits)


# ----------------------------------------------------------------------------- shared by processes


# Each process counts a hundred answers; a lost change would leave a higher number.
COUNT = """
import sys
from pathlib import Path
from ghp_agents.github.api import rate_limit as gauge
from ghp_agents.github.api.rate_limit import Meter

meter = Meter(Path(sys.argv[1]))
sys.stdin.readline()
for _ in range(100):
    meter.change(lambda had: had._replace(strikes=0, answered=(had.answered or 0) + 1))
"""


def test_what_one_process_finds_out_all_know(tmp_path: Path) -> None:
    one, other = Meter(tmp_path / "hub/a.json"), Meter(tmp_path / "hub/a.json")
    assert other.read() == RateLimits()
    changed = one.change(lambda limits: gauge.lost(limits, 100.0))
    assert other.read() == changed == RateLimits(pause=Backoff("outage", 105.0), strikes=1)


@pytest.mark.slow
def test_no_change_of_any_process_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(path)], stdin=subprocess.PIPE, cwd=CHECKOUT
        )
        for _ in range(4)
    ]
    for process in processes:
        process.communicate(b"go\n", timeout=60)
    assert [process.returncode for process in processes] == [0] * 4
    assert Meter(path).read().answered == 400


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_broken_file_is_nothing_known(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    assert Meter(tmp_path / "a.json").read() == RateLimits()


def test_clones_of_one_machine_share_what_github_says_of_a_token(tmp_path: Path) -> None:
    one, other = (Meter(tmp_path / name / "a.json", tmp_path / "machine/x") for name in "ab")
    one.change(lambda limits: limits._replace(budgets={"core": Budget(5_000, 70, 900.0)}))
    assert other.read().budgets == {"core": Budget(5_000, 70, 900.0)}
    other.change(lambda limits: limits._replace(pause=Backoff("secondary", 500.0), strikes=1))
    assert one.read().pause == Backoff("secondary", 500.0)
    one.change(lambda limits: limits._replace(budgets={"core": Budget(5_000, 60, 901.0)}))
    assert other.read().budgets["core"].remaining == 60


def test_an_outage_is_known_to_its_clone_alone(tmp_path: Path) -> None:
    one, other = (Meter(tmp_path / name / "a.json", tmp_path / "machine/x") for name in "ab")
    one.change(lambda limits: gauge.lost(limits, 100.0))
    assert one.read().pause == Backoff("outage", 105.0)
    assert other.read() == RateLimits()


def test_of_two_counts_the_lower_of_an_hour_and_the_later_hour_hold() -> None:
    budgets = [Budget(5, 3, 1_000.0), Budget(5, 2, 1_030.0), Budget(5, 5, 4_600.0)]
    low, late = Budget(5, 2, 1_030.0), Budget(5, 5, 4_600.0)
    for first, second, expected in ((0, 1, low), (0, 2, late), (2, 0, late)):
        own, others = ({"core": budgets[number]} for number in (first, second))
        both = gauge.joined(RateLimits(own), RateLimits(others))
        assert both.budgets == {"core": expected}


def test_the_last_tenth_of_an_hour_is_left_to_people() -> None:
    limits = RateLimits({"core": Budget(5_000, 500, 900.0)})
    assert gauge.closed(limits, "core", 100.0) is None
    assert gauge.closed(limits, "core", 100.0, reserve=0.1) == Backoff("reserved", 900.0)
    assert gauge.closed(limits, "core", 900.0, reserve=0.1) is None
    more = RateLimits({"core": Budget(5_000, 501, 900.0)})
    assert gauge.closed(more, "core", 100.0, reserve=0.1) is None
    assert not Backoff("reserved", 900.0).asked_for, "nobody waits an hour for it"


def test_where_nothing_can_be_written_a_process_still_knows_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    meter = Meter(tmp_path / "file/a.json", tmp_path / "file/machine/x")
    meter.change(lambda limits: limits._replace(budgets={"core": Budget(5, 0, 10.0)}))
    assert meter.read().budgets == {"core": Budget(5, 0, 10.0)}


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    meter = Meter(tmp_path / "a.json")
    meter.change(lambda limits: gauge.lost(limits, 100.0))
    assert json.loads((tmp_path / "a.json").read_text()) == {
        "budgets": {},
        "pause": ["outage", 105.0],
        "strikes": 1,
        "answered": None,
    }


# --------------------------------------------------------------------------- how long a call waits


def test_waits_add_up_and_what_is_too_long_is_not_begun() -> None:
    clock = ManualClock()
    patience = Deadline(clock, 30.0)
    began = clock.now()
    assert patience.wait(20.0)
    assert not patience.wait(10.1)
    assert clock.now() - began == 20.0
    assert patience.wait(10.0)
    assert patience.left() == 0.0
    assert patience.wait(0.0)
    assert not patience.wait(0.1)


def test_time_that_passes_otherwise_counts_too() -> None:
    clock = ManualClock()
    patience = Deadline(clock, 30.0)
    clock.wait(50.0)
    assert patience.left() == 0.0


def test_the_waits_of_one_command_add_up_over_its_requests() -> None:
    clock, waits = ManualClock(), Waits(30.0)
    assert Deadline(clock, 30.0, waits).wait(20.0)
    assert not Deadline(clock, 30.0, waits).wait(10.1)
    assert Deadline(clock, 30.0, waits).wait(10.0)
    assert not Deadline(clock, 30.0, waits).wait(0.1)
