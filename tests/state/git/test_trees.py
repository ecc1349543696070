"""The files of records in a commit's trees."""

from pathlib import Path

from ghp_agents.core.fields import LARGEST
from ghp_agents.git.objects import read_objects
from ghp_agents.state.git.trees import read_below
from tests.support.git import commit


def test_a_file_that_is_too_large_is_left_out_and_named(repo: Path) -> None:
    head = commit(repo, {"a/small": b"x" * 200, "a/large": b"x" * 201, "a/b/small": b"y"})
    with read_objects(repo / ".git", largest=200) as reader:
        (below,) = read_below(reader, [f"{head}:a"], "a")
    assert below.files == {"a/small": b"x" * 200, "a/b/small": b"y"}
    assert below.left_out == {"a/large": f"more than {LARGEST // 1_000_000} MB"}
