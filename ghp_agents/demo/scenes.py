"""The story of the demo: its scenes, each written by who plays it and shown in one order.

The agents are processes that run at the same time, so each writes its scenes as files. A scene is
shown when those before it were, so the demo always tells the same story.
"""

import enum
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


class Scene(enum.StrEnum):
    """The scenes, in their order."""

    CLAIM = "claim"
    LEASE = "lease"
    REFUSED = "refused"
    ASK = "ask"
    FINISH_1 = "finish-1"
    ANSWER = "answer"
    TOLD = "told"
    FINISH_2 = "finish-2"
    MERGE = "merge"
    KILLED = "killed"
    HANDOFF = "handoff"
    RESUME = "resume"
    FINISH_3 = "finish-3"
    TAKEOVER = "takeover"
    FINISH_4 = "finish-4"
    LAST_MERGE = "last-merge"


Part = tuple[str, str]  # a text and its rich style
MARKS = {"✓": "green", "✗": "bold red"}
COLOURS = {
    "you": "bold yellow",
    "worker-1": "bold cyan",
    "worker-2": "bold magenta",
    "worker-3": "bold blue",
    "worker-4": "bold red",
}
COLOURS |= {f"night-{n}": COLOURS[f"worker-{n}"] for n in range(1, 5)}


@dataclass(frozen=True, slots=True)
class DemoStage:
    """The folder with the scenes that were played."""

    folder: Path

    def write(self, scene: Scene, what: str, *lines: str) -> None:
        """Write a scene: who does what, and the lines that are printed then."""
        shown = [f"  {line}" for text in lines for line in text.splitlines()]
        draft = self.folder / f".{scene}"
        draft.write_text("\n".join([what, *shown]), encoding="utf-8")
        draft.replace(self.folder / scene)

    def has(self, scene: Scene) -> bool:
        """Whether a scene was played."""
        return (self.folder / scene).exists()

    def read(self, scene: Scene) -> str:
        """The lines of a scene."""
        return (self.folder / scene).read_text(encoding="utf-8")

    def after(self, shown: int) -> Iterator[str]:
        """The scenes that can be shown if the first `shown` scenes were."""
        for scene in list(Scene)[shown:]:
            if not self.has(scene):
                return
            yield self.read(scene)


def marked(text: str) -> Sequence[str]:
    """The lines of a command's messages that report what was done."""
    return [line for line in text.splitlines() if line.startswith("✓")]


def styled(text: str, width: int) -> Iterator[list[Part]]:
    """The lines of a scene for `width` columns, as parts with their rich styles. Continued lines
    are indented."""
    for line in text.splitlines():
        first, *more = textwrap.wrap(
            line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
        if line.startswith(" "):
            at = 2 + (first[2:3] in MARKS)
            yield [(first[:at], MARKS.get(first[2:3], "")), (first[at:], "")]
            rest = ""
        else:
            name, _, what = first.partition(" ")
            time = [(f"{name} ", "dim")] if name[:1].isdigit() else []
            if time:
                name, _, what = what.partition(" ")
            rest = "bold" if what.startswith("$ ") else ""
            yield [*time, (name, COLOURS.get(name, "")), (f" {what}", rest)]
        yield from ([(part, rest)] for part in more)
