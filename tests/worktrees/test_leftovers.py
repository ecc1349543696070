"""What may go because programs make it again."""

import pytest

from ghp_agents.settings.settings import DISPOSABLE
from ghp_agents.worktrees.leftovers import is_disposable


@pytest.mark.parametrize(
    ("path", "goes"),
    [
        ("node_modules/", True),
        ("apps/web/node_modules/", True),
        ("src/a.pyc", True),
        ("src/pkg.egg-info/", True),
        ("node_modules", False),  # a file or link of that name
        ("data/", False),
        ("notes.md", False),
        ("build/local.env", False),  # the folder itself has committed files
        ("build/node_modules/", True),
        (".venv/", True),
    ],
)
def test_names_count_at_the_path_itself(path: str, goes: bool) -> None:
    assert is_disposable(path, DISPOSABLE) == goes


def test_a_setting_may_name_a_path_and_take_one_out() -> None:
    patterns = [*DISPOSABLE, "apps/*/out/", "!dist/"]
    assert [is_disposable(path, patterns) for path in ("apps/web/out/", "out/", "dist/")] == [
        True, False, False,
    ]  # fmt: skip
