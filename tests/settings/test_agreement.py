"""What a person agreed to is kept in their home, for one clone."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.settings import agreement
from ghp_agents.settings.consent import Agreement

SAID = Agreement({"checks": frozenset({"1", "2"}), "trunk": frozenset({"3"})}, "https://x/y")


def test_what_was_written_is_read_for_that_clone_alone(tmp_path: Path) -> None:
    home, one, two = {"HOME": str(tmp_path)}, tmp_path / "one/.git", tmp_path / "two/.git"
    one.mkdir(parents=True)
    assert agreement.read(home, one) == Agreement()
    agreement.write(home, one, SAID)
    assert agreement.read(home, one) == SAID
    assert agreement.read(home, two) == Agreement()
    link = tmp_path / "link"
    link.symlink_to(one)
    assert agreement.read(home, link) == SAID


def test_it_is_nobody_elses_to_read_and_can_be_forgotten(tmp_path: Path) -> None:
    home, clone = {"HOME": str(tmp_path)}, tmp_path / ".git"
    agreement.write(home, clone, SAID)
    path = agreement.place(home, clone)
    assert path.parent == tmp_path / ".config/ghp-cli/trust"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert agreement.forget(home, clone)
    assert not agreement.forget(home, clone)
    assert agreement.read(home, clone) == Agreement()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"version": 1}',
        '{"version": 1, "clone": "/other", "agreed": {"checks": ["1"]}}',
        '{"version": 9, "clone": "HERE", "agreed": {"checks": ["1"]}}',
        '{"version": 1, "clone": "HERE", "agreed": [1], "owner": 3}',
        '{"version": 1, "clone": "HERE", "agreed": {"checks": "1"}}',
    ],
)
def test_what_cannot_be_understood_is_no_consent(tmp_path: Path, content: str) -> None:
    home, clone = {"HOME": str(tmp_path)}, tmp_path / ".git"
    path = agreement.place(home, clone)
    path.parent.mkdir(parents=True)
    path.write_text(content.replace("HERE", str(clone)))
    assert agreement.read(home, clone) == Agreement()


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("in the way")
    with pytest.raises(GhpError, match="Cannot save your answer in"):
        agreement.write({"HOME": str(tmp_path)}, tmp_path, SAID)
