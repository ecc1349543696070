"""Printed JSON, exit codes and every record in the state are as recorded, byte for byte.

The recordings were made before the package got its present layout; `tools/record.py` plays them.
Record them anew only where a sentence for people changes, and read the difference.
"""

from pathlib import Path

import pytest

from tools import record


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alone", "remote", "talk"])
def test_outputs_and_records_are_as_recorded(name: str, tmp_path: Path) -> None:
    recording = record.RECORDED / f"{name}.txt"
    played = record.play(recording, tmp_path)
    assert played == recording.read_text(encoding="utf-8")
