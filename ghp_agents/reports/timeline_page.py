"""A timeline as one HTML file: no network, no library, and nothing of others that could run."""

import base64
import hashlib
import json
from collections.abc import Sequence
from datetime import tzinfo
from typing import Any

from ghp_agents.issues.issue import PROVISIONAL
from ghp_agents.reports import timeline_svg
from ghp_agents.reports.timeline import Lane, Timeline, TimelineSpan
from ghp_agents.reports.timeline_cells import SIGNS, summary

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Agents at work</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{summary}</h1>
<div id="buttons" hidden>
<button id="in" aria-label="Zoom in">+</button>
<button id="out" aria-label="Zoom out">&minus;</button>
<button id="all">Whole time</button>
</div>
</header>
<div id="scroll" hidden><div id="tall"><canvas id="chart" tabindex="0" role="application"
aria-label="Timeline. Arrow keys go from event to event, plus and minus zoom."></canvas></div></div>
<p id="legend">{legend}</p>
<p id="help" hidden>Wheel or <kbd>+</kbd> <kbd>&minus;</kbd>: zoom · drag or
<kbd>Shift</kbd> <kbd>←</kbd> <kbd>→</kbd>: move · <kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd>
<kbd>↓</kbd>: next event or agent · <kbd>0</kbd>: whole time · times in your zone</p>
<div id="tip" hidden></div>
<div id="say" role="status" aria-live="polite"></div>
<div id="print">{picture}</div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def render(timeline: Timeline, zone: tzinfo | None = None) -> str:
    """The page. Its own script shows times in the reader's zone; what is printed, or shown without
    scripts, is the picture in `zone`, by default the machine's."""
    style = timeline_svg.read("timeline_page.css")
    script = timeline_svg.read("timeline_page.js")
    policy = "; ".join((
        "default-src 'none'", "base-uri 'none'", "form-action 'none'",
        f"script-src {_hash(script)}", f"style-src {_hash(style)} {_hash(timeline_svg.style())}",
    ))  # fmt: skip
    return _PAGE.format(
        policy=policy,
        style=style,
        summary=timeline_svg.safe(" · ".join(summary(timeline, zone))),
        legend=_legend(),
        picture=timeline_svg.render(timeline, zone),
        data=_data(timeline),
        script=script,
    )


def _hash(text: str) -> str:
    """The source of a policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _legend() -> str:
    shown = []
    for kind, (char, meaning, _, tone) in SIGNS.items():
        sign = f'<i class="sign tone-{tone}">{char}</i>' if tone else f'<i class="fill-{kind}"></i>'
        shown.append(f"<span>{sign}{meaning}</span>")
    return "\n".join(shown)


class _Texts:
    """Texts by their number, each once: statuses and actions repeat."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, text: str) -> int | None:
        return self.known.setdefault(text, len(self.known)) if text else None


def _data(timeline: Timeline) -> str:
    """What the script draws, as JSON that no text in it can end."""
    texts = _Texts()
    document = {
        "since": timeline.since,
        "length": timeline.until - timeline.since,
        "provisional": PROVISIONAL,
        "signs": [[kind, sign.char, sign.meaning, sign.tone] for kind, sign in SIGNS.items()],
        "titles": timeline.titles,
        "lanes": [_lane(lane, timeline.since, texts) for lane in timeline.lanes],
        "texts": [*texts.known],
    }
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _lane(lane: Lane, since: float, texts: _Texts) -> list[Any]:
    def spans(items: Sequence[TimelineSpan]) -> list[Any]:
        return [
            [
                span.kind, round(span.start - since, 1), round(span.end - since, 1), span.issue,
                texts.number(span.status), texts.number(span.text),
            ]
            for span in items
        ]  # fmt: skip

    marks = [
        [mark.kind, round(mark.at - since, 1), mark.issue, texts.number(mark.text),
         texts.number(mark.by)]
        for mark in lane.marks
    ]  # fmt: skip
    return [lane.agent, spans(lane.spans), spans(lane.opened), marks]
