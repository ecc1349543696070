"""Secrets are found in the spellings of real tools and of sentences; code and prose are left."""

from pathlib import Path

import pytest

from ghp_agents.core import secret_scan
from tests.support.secret_spellings import LOOK_ALIKES, spelled

LEAST = 0.97  # of the spellings


@pytest.mark.parametrize("seed", [1, 2, 34])
def test_nearly_every_spelling_is_found(seed: int) -> None:
    texts = spelled(seed)
    missed = [name for name, text in texts.items() if secret_scan.find(text) is None]
    assert len(texts) > 150
    assert len(missed) <= (1 - LEAST) * len(texts), missed


def test_a_redacted_spelling_has_no_secret_left() -> None:
    found = {name: text for name, text in spelled().items() if secret_scan.find(text)}
    left = {name: secret_scan.redacted(text) for name, text in found.items()}
    assert {name: text for name, text in left.items() if secret_scan.find(text)} == {}
    assert {name for name, text in found.items() if text == left[name]} == set()


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_placeholder_a_name_and_a_sentence_are_no_secrets(text: str) -> None:
    assert secret_scan.find(text) is None
    assert secret_scan.redacted(text) == text


def test_the_code_of_this_project_does_not_alarm() -> None:
    package = Path(secret_scan.__file__).parents[1]
    files = [path for path in package.glob("c*/*.py") if path.name != "secret_shapes.py"]
    assert len(files) > 50
    assert [path.name for path in files if secret_scan.find(path.read_text())] == []
