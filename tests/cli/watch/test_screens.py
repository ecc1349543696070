"""Whole screens at three sizes, compared with what was recorded.

`RECORD_SCREENS=1` writes the recordings anew; look at the difference before you commit it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.watching import EXTRA, press, screen, watch

pytest.importorskip("textual", reason=EXTRA)

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from ghp_agents.cli.watch.app import Watch

RECORDED = Path(__file__).parent / "screens"
KEYS: dict[str, tuple[str, ...]] = {
    "the list": (),
    "the middle of the list": ("pagedown",),
    "a filter": ("slash", *"worker-1"),
    "a question": ("a",),
    "a stop": ("s",),
    "an agent": ("enter",),
    "help": ("question_mark",),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 50)])
def test_the_screens_look_as_recorded(size: tuple[int, int]) -> None:
    shown: dict[str, list[str]] = {}

    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        for name, keys in KEYS.items():
            await press(program, pilot, *keys)
            shown[name] = screen(program)
            await press(program, pilot, "escape", "home")

    watch(play, size=size)
    assert {len(lines) for lines in shown.values()} == {size[1]}
    text = "".join(
        f"== {name} ==\n" + "".join(f"{line}\n" for line in lines) for name, lines in shown.items()
    )
    recorded = RECORDED / f"{size[0]}x{size[1]}.txt"
    if os.environ.get("RECORD_SCREENS") == "1":
        recorded.write_text(text, encoding="utf-8")
    assert text == recorded.read_text(encoding="utf-8")
