"""Each record that a command confirmed is on the remote within 15 seconds, whoever is killed."""

import shutil
from pathlib import Path

import pytest

from tests.support.sender_world import SenderWorld
from tests.support.thorough import count
from tests.support.world_files import template

STEPS, SAMPLE, EACH = 1_000_000, 300, 300  # steps of a schedule for all, and in each world


@pytest.mark.slow
def test_what_was_confirmed_arrives_in_time_whatever_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(count(STEPS, SAMPLE) // EACH):
        folder = tmp_path / str(seed)
        shutil.copytree(template(), folder)
        world = SenderWorld(folder, monkeypatch, seed, EACH)
        try:
            world.run()
        except AssertionError as error:
            raise AssertionError(f"Seed {seed}: {error}") from error
        assert world.delivered > EACH / 10
        shutil.rmtree(folder)
