"""Each kind of event is declared once, and readers find what they know of it there."""

import re

from ghp_agents.state.events import (
    DEATH,
    KINDS,
    MARKS,
    MERGE,
    RELEASE,
    STEP,
    EventKind,
    kind_of,
)
from tests.support.ghp import CHECKOUT


def test_the_cause_or_the_status_of_an_event_chooses_its_kind() -> None:
    marks = [kind_of("release", cause).mark for cause in ("", "gave-up", "merged", "swept")]
    assert marks == [RELEASE, RELEASE, MERGE, DEATH]
    assert kind_of("presence", "began").topics == ("agent.registered",)


def test_an_event_of_another_version_is_kept_and_concerns_nobody() -> None:
    assert kind_of("beam-up") == EventKind("beam-up", "thing", "beam-up")


def test_every_record_of_a_golden_file_has_a_kind() -> None:
    written = "".join(path.read_text() for path in (CHECKOUT / "tests/golden").glob("*.txt"))
    names = {*re.findall(r"^Event: (.*)", written, re.M)}
    assert names - KINDS.keys() == {"the event", "github-the fate"}, "Add a row to `events.py`."


def test_what_interrupts_concerns_somebody_and_every_mark_is_drawn() -> None:
    assert [name for name, kind in KINDS.items() if kind.reach and not kind.concerns] == []
    assert {kind.mark for kind in KINDS.values()} == {*MARKS, ""}
    assert STEP in KINDS["claim"].reach
