"""The picture of a timeline: valid, safe, bounded, and the same for the same timeline."""

import re
from datetime import UTC
from xml.etree import ElementTree

import pytest

from ghp_agents.reports import timeline_svg
from ghp_agents.reports.timeline_replay import build
from ghp_agents.reports.timeline_svg import LANES_SHOWN, render
from tests.support.timelines import entry, facts, presence, simulated_day

EVIL = "</text></svg><script>alert(1)</script> & \" ' <!-- ]]> \x00\x1b[31m \ud800 \ufffe \u202e"
SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_it_shows_agents_times_issues_and_a_legend() -> None:
    shown = build(
        facts(
            presence(0, "worker-1", "idle"),
            entry(600, "claim", "worker-1", "#1", issue=1),
            entry(3000, "handoff", "worker-1", "H-1", issue=1),
            titles={1: "Parse files"},
        )
    )
    labels = texts(render(shown, UTC))
    assert labels[0] == "Sun 15 Jun 2025, 16:00 – 17:00 (UTC) · 1 agent"
    for expected in ("16:15", "worker-1", "#1", "»", "hands over", "#1 Parse files"):
        assert expected in labels
    titles = [
        element.text for element in ElementTree.fromstring(render(shown, UTC)).iter(f"{SVG}title")
    ]
    assert titles == [
        "worker-1 idle: 15 Jun 16:00–16:10",
        "worker-1 works on #1: 15 Jun 16:10–17:00",
    ]


def test_nothing_that_others_wrote_becomes_markup() -> None:
    shown = build(
        facts(
            presence(0, "worker-1", EVIL, 1, EVIL),
            entry(60, "escalate", "worker-1", EVIL, issue=1, text=EVIL),
            titles={1: EVIL},
        )
    )
    picture = render(shown, UTC)
    root = ElementTree.fromstring(picture)
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds == {"svg", "style", "rect", "text", "path", "title", "g"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in names)
    picture.encode("utf-8")


def test_it_needs_no_network_and_no_script() -> None:
    picture = render(simulated_day(5, hours=4), UTC)
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in picture
    assert "@import" not in timeline_svg.style()
    assert "prefers-color-scheme: dark" in picture


def test_the_same_timeline_gives_the_same_bytes() -> None:
    assert render(simulated_day(5), UTC) == render(simulated_day(5), UTC)


@pytest.mark.slow
def test_it_is_bounded_and_counts_the_rest() -> None:
    crowd = [presence(n, f"worker-{n}", "testing") for n in range(LANES_SHOWN + 40)]
    assert "… 40 more agents" in texts(render(build(facts(*crowd)), UTC))
    assert len(render(simulated_day(50), UTC)) < 500_000
    assert len(render(simulated_day(50, hours=72), UTC)) < 1_000_000


def test_an_empty_timeline_is_a_picture_too() -> None:
    assert texts(render(build(facts()), UTC))[0].endswith("0 agents")
