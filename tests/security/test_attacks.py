"""The page of attacks and the tests are about the same attacks."""

import re
from pathlib import Path

from tests.support.ghp import CHECKOUT

HERE = Path(__file__).parent
PAGE = CHECKOUT / "docs/design/021-attacks.md"
ROW = re.compile(
    r"^\| (\d+) \| [^|]+ \| [^|]+ \| `((?:\w+/)*test_\w+\.py)::(test_\w+)` \|$", re.MULTILINE
)


def test_each_attack_has_its_test() -> None:
    rows = ROW.findall(PAGE.read_text())
    assert [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) > 84
    for _, name, test in rows:
        path = HERE.parent / name if "/" in name else HERE / name
        assert f"\ndef {test}(" in path.read_text(), f"{name}::{test}"


def test_no_file_of_attacks_is_without_a_row() -> None:
    named = {name for _, name, _ in ROW.findall(PAGE.read_text()) if "/" not in name}
    beside = {"test_attacks.py", "test_links.py", "test_typed_reasons.py", "test_redaction.py"}
    assert {path.name for path in HERE.glob("test_*.py")} == named | beside
