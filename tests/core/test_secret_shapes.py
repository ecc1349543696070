"""Secrets are found in the spellings of real tools and of sentences; code and prose are left."""

import random
import string
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


# Places of a sentence, a file and an address.
BEFORE = ("", " ", "(", "`", "**", '"', "'", "token=", "x\\n", "a%3D", "%20", "\t", ":", "//me:",
          "\x1b[31m", "\u200b", "\N{KEY}", "Bearer ", "the_", "token", ">", "[x](")  # fmt: skip
AFTER = ("", " ", ")", "`", "**", '"', "'", ".", ", and", "\\n", "%20", "@host/x", "\x1b[0m", ";",
         "?", "!", "\n\n", "…", "</b>", "&x=1")  # fmt: skip


@pytest.mark.slow
def test_a_github_token_is_found_and_removed_wherever_it_stands() -> None:
    draw = random.Random(34)

    def some(count: int) -> str:
        return "".join(draw.choices(string.ascii_letters + string.digits, k=count))

    signed = f"eyJ{some(30)}.eyJ{some(60)}.{some(20)}-{some(10)}_{some(12)}"
    tokens = [f"gh{kind}_{some(36)}" for kind in "pousr"]
    tokens += [f"ghs_{some(7)}_{signed}", f"ghu_{some(9)}.{some(30)}", f"github_pat_{some(82)}"]
    for token in tokens:
        for before in BEFORE:
            for after in AFTER:
                left = secret_scan.redacted(f"Use {before}{token}{after}")
                assert "removed]" in left, (before, after)
                assert token[-12:] not in left, (before, after)
                assert token[8:20] not in left, (before, after)


@pytest.mark.parametrize("name", ["GitHub classic", "GitLab", "Anthropic", "AWS id", "JWT"])
def test_a_token_that_was_cut_with_its_text_is_removed(name: str) -> None:
    token = spelled()[name]
    for length in range(len(token) // 2 + 7, len(token)):
        left = secret_scan.redacted(f"Started {token[:length]}…")
        assert token[6:12] not in left, length


def test_a_redacted_spelling_has_no_secret_left() -> None:
    found = {name: text for name, text in spelled().items() if secret_scan.find(text)}
    left = {name: secret_scan.redacted(text) for name, text in found.items()}
    assert {name: text for name, text in left.items() if secret_scan.find(text)} == {}
    assert {name for name, text in found.items() if text == left[name]} == set()


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_placeholder_a_name_and_a_sentence_are_no_secrets(text: str) -> None:
    assert secret_scan.find(text) is None
    assert secret_scan.redacted(text) == text


@pytest.mark.slow
def test_the_code_of_this_project_does_not_alarm() -> None:
    package = Path(secret_scan.__file__).parents[1]
    files = [path for path in package.glob("c*/*.py") if path.name != "secret_shapes.py"]
    assert len(files) > 50
    assert [path.name for path in files if secret_scan.find(path.read_text())] == []
