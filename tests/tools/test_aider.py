"""Getting aider: pinned, in its own environment, and with a reason where that is impossible."""

import sys
from pathlib import Path

import pytest

from tools import aider, emulate
from tools.clients import BrokenError


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it would be installed."""
    monkeypatch.setattr(emulate, "PLACE", tmp_path / "packages")
    return tmp_path / "packages"


def test_what_is_installed_is_not_installed_again(place: Path) -> None:
    (place / aider.PACKAGE).mkdir(parents=True)
    assert aider.ready() == [str(place / aider.PACKAGE / "bin/python"), "-m", "aider"]


def test_a_python_that_it_does_not_take_is_the_reason(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aider, "PYTHONS", ((3, 0), sys.version_info[:2]))
    with pytest.raises(BrokenError, match=r"^aider-chat==.* does not take Python 3\.\d+\.$"):
        aider.ready()
    assert not place.exists()
