"""What may go because programs make it again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghp_agents.settings.settings import DISPOSABLE
from ghp_agents.worktrees.leftovers import Rules, Tree, digest_of, find, is_disposable
from tests.support.git import git


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


NAMES = st.sampled_from(["a", "notes", "node_modules", "build", "x.pyc", "b.env"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def ignoring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that ignores all."""
    repo = tmp_path_factory.mktemp("ignoring")
    git(repo, "init", "--quiet")
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text("*\n")
    return repo


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.dictionaries(PATHS, st.sampled_from(["put", "changed", "own"]), max_size=8))
def test_exactly_what_was_not_put_there_and_is_not_made_again_is_left_over(
    ignoring: Path, files: dict[str, str]
) -> None:
    digests: dict[str, str] = {}
    for place in ignoring.iterdir():
        if place.name != ".git":
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    expected: set[str] = set()
    for path, kind in files.items():
        place = ignoring / path
        if place.exists() or any(parent.is_file() for parent in place.parents):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("put\n")
        if kind != "own":
            digests[path] = digest_of(place)
        if kind == "changed":
            place.write_text("changed\n")
        *folders, name = path.split("/")
        is_made = {"node_modules", "build"} & {*folders} or name == "x.pyc"
        expected |= set() if kind == "put" or is_made or "x.pyc" in folders else {path}
    paths = find(Tree(ignoring, ignoring / ".git"), Rules(DISPOSABLE, digests))
    assert {*_files(ignoring, paths)} == expected


def _files(top: Path, paths: list[str]) -> Iterator[str]:
    for path in paths:
        inside = [file for file in (top / path).rglob("*") if file.is_file()]
        yield from (str(file.relative_to(top)) for file in inside or [top / path])
