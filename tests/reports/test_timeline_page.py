"""The page of a timeline: whole in itself, safe, and in a real browser fast and usable by keys."""

import json
import re
import struct
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.reports.timeline_page import render
from ghp_agents.reports.timeline_replay import build
from tests.support.browser import NEEDS_CHROMIUM, Page, opened
from tests.support.timelines import entry, facts, presence, simulated_day

EVIL = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)> \" ' & <!--"
COUNTED = """
window.drawn = [0];
for (const name of ['fillRect', 'fillText', 'strokeText', 'stroke']) {
  const own = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...all) {
    window.drawn[window.drawn.length - 1]++;
    return own.apply(this, all);
  };
}
"""


def data(page: str) -> dict[str, Any]:
    (json_text,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page, re.S
    )
    document: dict[str, Any] = json.loads(json_text)
    return document


# ------------------------------------------------------------------------------------- text


def test_the_policy_forbids_everything_but_its_own_script_and_styles() -> None:
    page = render(simulated_day(2, hours=2), UTC)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    rules = [rule.split(" ")[:2] for rule in policy.split("; ")]
    assert rules[:3] == [
        ["default-src", "'none'"],
        ["base-uri", "'none'"],
        ["form-action", "'none'"],
    ]
    assert policy.count("sha256-") == 3
    assert "unsafe" not in policy
    assert set(re.findall(r"https?://[^\"'\s]*", page)) == {"http://www.w3.org/2000/svg"}


def test_others_text_is_data_that_cannot_end_its_element() -> None:
    shown = build(
        facts(
            presence(0, "worker-1", "testing", 1, EVIL),
            entry(9, "escalate", "worker-1", "E-1", issue=1, text=EVIL),
            titles={1: EVIL},
        )
    )
    page = render(shown, UTC)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert data(page)["titles"]["1"].startswith("</script><script>document.title='taken'")


def test_each_text_is_there_once() -> None:
    shown = build(facts(*(presence(n * 9, "worker-1", f"s{n % 3}", 1, "Edits") for n in range(99))))
    assert data(render(shown, UTC))["texts"] == ["s0", "Edits", "s1", "s2"]


@pytest.mark.slow
def test_a_day_of_fifty_agents_is_a_small_file() -> None:
    assert len(render(simulated_day(50), UTC).encode()) < 1_200_000


# ---------------------------------------------------------------------------------- browser


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A day of fifty agents, in a browser that counts what the page draws."""
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "day.html"
    file.write_text(render(simulated_day(50), UTC), encoding="utf-8")
    with opened(file, folder, before=COUNTED) as page:
        yield page


def drawn(page: Page, act: str, frames: int) -> list[int]:
    """How many strokes each of some frames took, after `act` in each."""
    frames_drawn: list[int] = page.value(
        f"(async () => {{ const all = []; for (let n = 0; n < {frames}; n++) {{"
        f" window.drawn = [0]; {act};"
        " await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));"
        " all.push(window.drawn[0]); } return all; })()"
    )
    return frames_drawn


def wheel(amount: int) -> str:
    where = "clientX: 700, clientY: 300, bubbles: true, cancelable: true"
    event = f"new WheelEvent('wheel', {{deltaY: {amount}, {where}}})"
    return f"document.getElementById('chart').dispatchEvent({event})"


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_a_day_of_fifty_agents_is_drawn_without_an_error_or_a_request(day: Page) -> None:
    assert day.problems == []
    assert day.value("document.getElementById('scroll').hidden") is False
    assert day.value("getComputedStyle(document.getElementById('print')).display") == "none"


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_a_frame_draws_only_what_is_visible(day: Page) -> None:
    whole = drawn(day, wheel(0), 2)
    assert 1_000 < max(whole) < 25_000
    near = drawn(day, wheel(-400), 12)
    assert near[-1] < max(whole) / 8
    day.value("document.getElementById('all').click()")


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_keys_go_from_event_to_event_and_say_what_it_is(day: Page) -> None:
    day.value("document.getElementById('chart').focus()")
    titles = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        day.key(key)
        titles.append(day.value("document.getElementById('say').textContent").splitlines()[0])
    assert [line.split(": ")[0] for line in titles] == ["claude-3"] * 4 + ["claude-6"]
    assert titles[0] == "claude-3: idle"
    assert sorted(line.partition(" «")[0] for line in titles[1:4]) == [
        "claude-3: claims #3", "claude-3: planning #3", "claude-3: planning #3",
    ]  # fmt: skip
    assert day.value("document.getElementById('tip').hidden") is False
    day.key("Escape")
    assert day.value("document.getElementById('tip').hidden") is True


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_the_mouse_shows_what_is_under_it_and_zooms_there(day: Page) -> None:
    day.mouse("mouseMoved", 700, 300)
    first = day.value("document.getElementById('tip').textContent")
    assert re.match(r"^\w+-\d+: \w", first)
    before = drawn(day, "", 1)
    for _ in range(6):
        day.mouse("mouseWheel", 700, 300, deltaX=0, deltaY=-300)
    day.mouse("mouseMoved", 701, 300)
    assert (
        day.value("document.getElementById('tip').textContent").split(":")[0]
        == (first.split(":")[0])
    )
    assert drawn(day, wheel(0), 1)[0] != before[0]
    day.key("0")


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_both_schemes_have_their_own_colours(day: Page) -> None:
    pixels = []
    for scheme in ("light", "dark"):
        day.scheme(scheme)
        script = "[...document.getElementById('chart').getContext('2d').getImageData(2,2,1,1).data]"
        pixels.append(day.value(script))
    assert pixels == [[255, 255, 255, 255], [13, 17, 23, 255]]
    width, height = struct.unpack(">II", day.picture()[16:24])
    assert (width, height) == (1280, 800)


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_on_paper_it_is_the_picture(day: Page) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    day.call("Emulation.setEmulatedMedia", media="print", features=dark)
    back = "getComputedStyle(document.documentElement).getPropertyValue('--back')"
    assert day.value(back).strip() == "#ffffff"
    assert day.value("getComputedStyle(document.getElementById('print')).display") == "block"
    assert day.value("getComputedStyle(document.getElementById('scroll')).display") == "none"
    day.call("Emulation.setEmulatedMedia", media="", features=[])
    assert day.pdf().startswith(b"%PDF")


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_what_others_wrote_does_nothing_in_a_browser(tmp_path: Path) -> None:
    shown = build(
        facts(
            presence(0, "worker-1", "testing", 1, EVIL),
            entry(9, "claim", "worker-1", "#1", issue=1, text=EVIL),
            titles={1: EVIL},
        )
    )
    file = tmp_path / "evil.html"
    file.write_text(render(shown, UTC), encoding="utf-8")
    with opened(file, tmp_path) as page:
        page.value("document.getElementById('chart').focus()")
        page.key("ArrowRight")
        page.key("ArrowRight")
        assert "onerror=alert(1)" in page.value("document.getElementById('say').textContent")
        assert page.value("document.title") == "Agents at work"
        assert page.value("document.images.length") == 0
        assert page.problems == []
        page.value("(() => { const s = document.createElement('script'); s.textContent ="
                   " \"document.title='taken'\"; document.body.append(s); })()")  # fmt: skip
        assert page.value("document.title") == "Agents at work"
        assert any("Content Security Policy" in text for text in page.problems)


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_without_scripts_it_is_the_picture(tmp_path: Path) -> None:
    file = tmp_path / "quiet.html"
    text = render(simulated_day(3, hours=2), UTC)
    file.write_text(text.replace("script-src 'sha256-", "script-src 'sha256-0"), encoding="utf-8")
    with opened(file, tmp_path) as page:
        assert page.value("getComputedStyle(document.getElementById('print')).display") == "block"
        assert page.value("document.getElementById('scroll').hidden") is True
