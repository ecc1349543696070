"""The demo's page and picture show what the program prints."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.house import CHECKOUT
from tools import demo

RUN = """\
Four agents work.

worker-1 $ ghp agent-lease a.py
  ✓ Leased L-12ab, <a> & b, as 0123456789ab.
worker-4 is killed while it works on #4
  ✗ L-12ab, L-34cd

22 of 22 checks of both clones passed; 31 s.
"""


def test_ids_hashes_and_times_are_the_same_in_each_run() -> None:
    other = RUN.replace("12ab,", "99ff,").replace("0123456789ab", "ba9876543210").replace("31", "9")
    assert demo.fixed(RUN) == demo.fixed(other) != RUN
    assert demo.fixed(demo.fixed(RUN)) == demo.fixed(RUN)


def test_the_picture_has_the_story_up_to_the_first_merge() -> None:
    root = ET.fromstring(demo.picture(RUN))
    lines = ["".join(text.itertext()) for text in root.findall("{*}text")]
    assert lines == [
        "$ ghp agent-demo",
        "worker-1 $ ghp agent-lease a.py",
        "  ✓ Leased L-12ab, <a> & b, as 0123456789ab.",
    ]


def test_the_picture_loads_nothing() -> None:
    picture = demo.PICTURE.read_text(encoding="utf-8")
    assert "url(" not in picture
    assert "href" not in picture


def test_the_readme_shows_the_picture() -> None:
    assert 'src="docs/demo.svg"' in (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_the_page_and_the_picture_show_one_run_and_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = demo.PAGE.read_text(encoding="utf-8").split("```")[1].removeprefix("text\n")
    run = tmp_path / "run.txt"
    run.write_text(printed, encoding="utf-8")
    assert demo.main([str(run)]) == 0
    run.write_text(printed.replace("worker-2", "worker-7"), encoding="utf-8")
    assert demo.main([str(run)]) == 1
    assert capsys.readouterr().err == (
        "Error: not what the demo prints: demo.md, demo.svg.\n"
        "Hint: run `python -m tools.demo` and commit the result.\n"
    )
