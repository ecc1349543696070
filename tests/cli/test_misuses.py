"""What people who know git and gh type wrongly, with the whole answer to each: `misuses.txt`.

`RECORD_MISUSES=1` writes the answers anew; look at the difference before you commit it.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.support.ghp import invoke

RECORDED = Path(__file__).parent / "captures/misuses.txt"
LEAST = 82


@pytest.mark.slow
def test_each_misuse_ends_as_recorded(repo: Path) -> None:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    recorded = RECORDED.read_text(encoding="utf-8")
    lines = re.findall(r"^\$ (.*)$", recorded, re.MULTILINE)
    answers = []
    for line in lines:
        code, out, err = invoke(shlex.split(line), repo)
        answers.append(f"$ {line}\n[{code}]\n{out}{err}")
    shown = "\n".join(answers)
    if os.environ.get("RECORD_MISUSES") == "1":
        RECORDED.write_text(shown, encoding="utf-8")
    assert shown == recorded
    assert len(lines) >= LEAST


def test_each_is_one_error_with_one_hint() -> None:
    for answer in RECORDED.read_text(encoding="utf-8").split("\n$ "):
        line, code, *rest = answer.removeprefix("$ ").splitlines()
        if line in ("agent-check nowhere.py --as worker-1", "agent-heartbeat --status"):
            continue  # a file to come may be checked; a hook never fails
        assert code in ("[1]", "[2]", "[3]", "[5]"), line
        assert [text.partition(" ")[0] for text in rest] == ["Error:", "Hint:"], line
        assert not re.search(r"\{\w+\}|Usage:|Try '", answer), line
