"""The night shift of `make demo-night`: Claude Code, Codex and two scripted agents."""

from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.demo import night, night_checks
from ghp_agents.demo.sandbox import Sandbox
from tests.clients.conftest import command
from tests.support.fake_models import FakeModels
from tests.support.thorough import IS_THOROUGH
from tools import demo_night

pytestmark = pytest.mark.slow


@pytest.mark.long
@pytest.mark.skipif(not IS_THOROUGH, reason="THOROUGH=1 runs the night with real clients, too")
def test_real_clients_and_scripted_ones_do_all_jobs_of_a_night(
    tmp_path: Path, models: FakeModels
) -> None:
    place = Sandbox(tmp_path / "place", SystemClock())
    night.make(place)
    told: list[str] = []
    crews = demo_night.crews(place, models, command)
    runs = night.play(place, told.append, lambda _: None, crews)
    checks = night_checks.summary(place, runs)
    assert [check for check in checks if not check.holds] == [], "\n".join(told)
    assert len(checks) == 12
    assert {run.runner for run in runs} >= {"claude", "codex"}
    assert all(run.session for run in runs if run.runner in ("claude", "codex"))
