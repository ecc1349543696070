"""Presence: the join of what several know of an agent, and the document that people read."""

import json
from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.state import presence
from ghp_agents.state.presence import Agents, Presence
from ghp_agents.state.record import Movement
from tests.support.said import AGENTS, JSON, PRESENCES, exactly

# ------------------------------------------------------------------------------ the join


@pytest.mark.slow
@given(PRESENCES, PRESENCES)
def test_who_is_asked_first_makes_no_difference(one: Presence, other: Presence) -> None:
    assert exactly(presence.newer(one, other)) == exactly(presence.newer(other, one))


@pytest.mark.slow
@given(PRESENCES, PRESENCES, PRESENCES)
def test_the_order_of_news_makes_no_difference(a: Presence, b: Presence, c: Presence) -> None:
    left = presence.newer(presence.newer(a, b), c)
    assert exactly(left) == exactly(presence.newer(a, presence.newer(b, c)))


@pytest.mark.slow
@given(PRESENCES)
def test_hearing_the_same_twice_is_no_news(one: Presence) -> None:
    assert presence.newer(one, dict(one)) == one


@pytest.mark.slow
@given(PRESENCES, PRESENCES)
def test_the_newer_is_one_of_the_two_and_never_a_mixture(one: Presence, other: Presence) -> None:
    newer = presence.newer(one, other)
    assert exactly(newer) in (exactly(one), exactly(other))
    assert presence.position(newer) == max(presence.position(one), presence.position(other))


@pytest.mark.slow
@given(st.lists(AGENTS, max_size=5), st.randoms())
def test_merging_in_any_grouping_gives_one_document(reports: list[Agents], chance: Random) -> None:
    shuffled = list(reports)
    chance.shuffle(shuffled)
    one_by_one: Agents = reduce(lambda before, news: presence.merge([before, news]), shuffled, {})
    at_once = presence.merge(reports)
    assert exactly(at_once) == exactly(one_by_one)
    assert exactly(presence.merge([at_once, *reports, at_once])) == exactly(at_once)


@pytest.mark.slow
@given(st.lists(AGENTS, max_size=4))
def test_no_agent_and_no_step_forward_is_lost(reports: list[Agents]) -> None:
    merged = presence.merge(reports)
    for agents in reports:
        for name, fields in agents.items():
            assert presence.position(merged[name]) >= presence.position(fields)


def test_a_higher_epoch_wins_over_any_number_of_beats() -> None:
    old, new = {"epoch": 1, "seq": 9_000}, {"epoch": 2, "seq": 1}
    assert presence.newer(old, new) is new
    assert presence.newer(new, old) is new


@pytest.mark.parametrize("value", [None, "7", 7.0, True, [7], {}, "x", 2**53, -(2**70)])
def test_a_position_that_is_no_number_counts_as_none(value: object) -> None:
    assert presence.position({"epoch": value, "seq": value}) == (0, 0)
    assert presence.issue_of({"issue": value}) is None


def test_an_agent_that_starts_again_is_above_all_that_is_known_and_never_beyond_the_end() -> None:
    end = 2**53 - 1
    assert presence.next_epoch({}, {}) == 1
    assert presence.next_epoch({"epoch": 3}, {"epoch": 7, "seq": 1}) == 8
    assert presence.next_epoch({"epoch": end + 1}, {"epoch": 7}) == 8
    again = presence.next_epoch({"epoch": end, "seq": 0}, {})
    assert again == presence.position({"epoch": again, "seq": 0})[0] == end


# -------------------------------------------------------------------------- the document


@pytest.mark.slow
@given(AGENTS, st.dictionaries(st.text(max_size=4), JSON, max_size=3))
def test_a_document_is_read_back_as_it_was_written(agents: Agents, more: dict[str, object]) -> None:
    beside = {key: value for key, value in more.items() if key not in ("agents", "schemaVersion")}
    decoded, others = presence.decode(presence.encode(agents, beside))
    assert exactly(decoded) == exactly(agents)
    assert exactly(others) == exactly(beside)


def test_the_document_has_the_specified_shape() -> None:
    agents: Agents = {
        "worker-2": {"issue": None, "status": "idle", "lastAction": "", "timestamp": "…"},
        "worker-1": {"issue": 147, "status": "implementing", "lastAction": "Grün ☃ 𝄞"},
    }
    assert presence.encode(agents).decode() == (
        "{\n"
        '  "schemaVersion": 1,\n'
        '  "agents": {\n'
        '    "worker-1": {\n'
        '      "issue": 147,\n'
        '      "status": "implementing",\n'
        '      "lastAction": "Grün ☃ 𝄞"\n'
        "    },\n"
        '    "worker-2": {\n'
        '      "issue": null,\n'
        '      "status": "idle",\n'
        '      "lastAction": "",\n'
        '      "timestamp": "…"\n'
        "    }\n"
        "  }\n"
        "}\n"
    )


def test_what_a_newer_version_wrote_is_kept_with_its_version() -> None:
    newer = {"schemaVersion": 2, "agents": {"a": {"seq": 1, "mood": "calm"}}, "teams": ["x"]}
    decoded, others = presence.decode(json.dumps(newer).encode())
    assert json.loads(presence.encode(decoded, others)) == newer


def test_what_an_older_version_wrote_gets_this_version() -> None:
    _, others = presence.decode(b'{"schemaVersion": 0, "agents": {}}')
    assert json.loads(presence.encode({}, others)) == {"schemaVersion": 1, "agents": {}}


def test_half_a_surrogate_pair_is_written_as_json_has_it() -> None:
    assert b'"lastAction": "\\udcff"' in presence.encode({"a": {"lastAction": "\udcff"}})


def test_one_bad_entry_never_hides_the_others() -> None:
    agents = {
        "a": {"seq": 1}, "b": None, "c": [1], "d": "x", "../../x": {"seq": 1}, "": {}, "e": {},
    }  # fmt: skip
    decoded, _ = presence.decode(json.dumps({"agents": agents}).encode())
    assert decoded == {"a": {"seq": 1}, "e": {}}


def test_a_value_that_is_no_json_is_read_as_nothing_and_so_stays_equal_to_itself() -> None:
    decoded, _ = presence.decode(b'{"agents": {"a": {"seq": 1, "x": NaN, "y": [-Infinity]}}}')
    assert decoded == {"a": {"seq": 1, "x": None, "y": [None]}}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"null", b'"x"', b'{"agents": []}', b'{"agents": 7}', b"\xff\xfe\xff",
        b'{"agents": {"a": {"seq": 1}}', b'{"agents": {}} {}', b"\0" * 100,
        b'{"agents": ' + b"[" * 200_000, b'{"agents": {"a": {"seq": ' + b"9" * 5_000 + b"}}}",
    ],
)  # fmt: skip
def test_what_is_no_document_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        presence.decode(data)


@given(st.binary(max_size=60))
def test_no_bytes_do_worse_than_a_value_error(data: bytes) -> None:
    try:
        presence.decode(data)
    except ValueError:
        return


# -------------------------------------------------------------------------- what is said of it


def test_what_stays_on_its_machine_is_not_published() -> None:
    assert presence.published({"seq": 1, "local": {"pid": 7}}) == {"seq": 1}


@pytest.mark.parametrize(
    ("change", "moved"),
    [({"seq": 9}, False), ({"lastAction": "x"}, False), ({"status": "done"}, True),
     ({"issue": 8}, True), ({"issue": None}, True), ({"epoch": 2}, True)],
)  # fmt: skip
def test_only_status_issue_and_epoch_make_an_entry(change: dict[str, object], moved: bool) -> None:
    before = {"epoch": 1, "seq": 1, "status": "idle", "issue": 7, "lastAction": "Began"}
    move = presence.movement("a", before, {**before, **change})
    assert (move is not None) is moved
    assert move is None or move.began is ("epoch" in change)


def test_a_first_presence_is_an_entry() -> None:
    fields = {"status": "testing", "issue": 7, "lastAction": "Ran the tests"}
    move = Movement("a", "testing", 7, "Ran the tests", began=True)
    assert presence.movement("a", None, {**fields, "epoch": 1}) == move


@pytest.mark.slow
@given(PRESENCES)
def test_whatever_a_hand_wrote_is_one_word_and_a_number_in_the_entry(fields: Presence) -> None:
    move = presence.movement("a", None, fields)
    assert move is not None
    assert move.status
    assert move.status.isprintable()
    assert " " not in move.status
    assert move.issue is None or isinstance(move.issue, int)


def test_fields_of_another_type_are_left_out_and_unknown_ones_stay() -> None:
    foreign: Presence = {
        "status": [], "issue": None, "epoch": True, "seq": 3, "capabilities": ["a", 1], "x": {},
    }  # fmt: skip
    assert presence.typed(foreign) == {"issue": None, "seq": 3, "x": {}}
