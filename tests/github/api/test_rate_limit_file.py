"""Budget and breaker are one for all processes of the clone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.github.api import rate_limit
from ghp_agents.github.api.rate_limit import Backoff, Budget, RateLimits
from ghp_agents.github.api.rate_limit_file import Meter
from tests.support.house import CHECKOUT

# Each process counts a hundred answers; a lost change would leave a higher number.
COUNT = """
import sys
from pathlib import Path
from ghp_agents.github.api import rate_limit as gauge
from ghp_agents.github.api.rate_limit_file import Meter

meter = Meter(Path(sys.argv[1]))
sys.stdin.readline()
for _ in range(100):
    meter.change(lambda had: had._replace(strikes=0, answered=(had.answered or 0) + 1))
"""


def test_what_one_process_finds_out_all_know(tmp_path: Path) -> None:
    one, other = Meter(tmp_path / "hub/a.json"), Meter(tmp_path / "hub/a.json")
    assert other.read() == RateLimits()
    changed = one.change(lambda limits: rate_limit.lost(limits, 100.0))
    assert other.read() == changed == RateLimits(pause=Backoff("outage", 105.0), strikes=1)


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


def test_where_nothing_can_be_written_a_process_still_knows_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    meter = Meter(tmp_path / "file/a.json")
    meter.change(lambda limits: limits._replace(budgets={"core": Budget(5, 0, 10.0)}))
    assert meter.read().budgets == {"core": Budget(5, 0, 10.0)}


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    meter = Meter(tmp_path / "a.json")
    meter.change(lambda limits: rate_limit.lost(limits, 100.0))
    assert json.loads((tmp_path / "a.json").read_text()) == {
        "budgets": {},
        "pause": ["outage", 105.0],
        "strikes": 1,
        "answered": None,
    }
