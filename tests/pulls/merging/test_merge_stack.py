"""Pull requests that are merged on top of each other, beside everything."""

import os
from pathlib import Path

import pytest

from ghp_agents.git.merge import HEAD_TRAILER
from ghp_agents.pulls.merging import merge_stack
from ghp_agents.pulls.merging.merge_stack import MergeStack, Queued
from ghp_agents.pulls.pull import MergeStep, Pull
from ghp_agents.workspace import open_workspace
from tests.support.git import commit, git


class Desk:
    """A repository with branches that begin at main."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.trunk = folder, git(folder, "rev-parse", "main")

    def work(self, number: int, files: dict[str, str]) -> Queued:
        """A pull request with one commit."""
        git(self.folder, "switch", "--quiet", "--detach", self.trunk)
        head = commit(self.folder, files, f"Work {number}")
        git(self.folder, "switch", "--quiet", "main")
        return Queued(Pull(number, f"agent/{number}", "main", head, f"Issue {number}"), head)

    def stack(self) -> MergeStack:
        return MergeStack(open_workspace(self.folder, os.environ), self.trunk, "lead")


@pytest.fixture
def desk(repo: Path) -> Desk:
    return Desk(repo)


def test_each_is_merged_onto_the_one_before(desk: Desk) -> None:
    one, two = desk.work(1, {"a.txt": "one\n"}), desk.work(2, {"b.txt": "two\n"})
    stack = desk.stack()
    assert stack.mergeable([one, two]) == [one, two]
    first, second = stack.commit([one]), stack.commit([one, two])
    assert stack.steps([one, two]) == [
        MergeStep(1, one.head, first, ("a.txt",)),
        MergeStep(2, two.head, second, ("b.txt",)),
    ]
    shown = git(desk.folder, "log", "--format=%P|%s", "--first-parent", second)
    assert shown.splitlines()[:2] == [
        f"{first} {two.head}|Merge #2 from agent/2",
        f"{desk.trunk} {one.head}|Merge #1 from agent/1",
    ]
    assert git(desk.folder, "rev-parse", "main") == desk.trunk


def test_the_message_of_a_merge_starts_no_agent(desk: Desk) -> None:
    entry = desk.work(1, {"a.txt": "one\n"})
    pull = entry.pull._replace(title="@copilot fix", branch="agent/@claude")
    ws = open_workspace(desk.folder, os.environ)
    words = (
        f"Merge #1 from agent/@\u200bclaude\n\n@\u200bcopilot fix\n\n{HEAD_TRAILER}: {entry.head}\n"
    )
    assert merge_stack.message(ws, pull, entry.head) == words
    assert "@\u200bcodex" in merge_stack.message(ws, pull, entry.head, "Ask @codex")


def test_what_conflicts_with_another_is_left_out_and_fits_the_trunk_alone(desk: Desk) -> None:
    one, two = desk.work(1, {"a.txt": "one\n"}), desk.work(2, {"a.txt": "two\n"})
    three = desk.work(3, {"c.txt": "three\n"})
    stack = desk.stack()
    assert stack.mergeable([one, two, three]) == [one, three]
    assert stack.conflicts(two) == ()


def test_what_conflicts_with_the_trunk_names_its_paths(desk: Desk) -> None:
    one = desk.work(1, {"README.md": "mine\n"})
    desk.trunk = commit(desk.folder, {"README.md": "theirs\n"}, "Change")
    assert desk.stack().conflicts(one) == ("README.md",)
    assert desk.stack().mergeable([one]) == []


def test_nothing_on_the_trunk_is_the_trunk(desk: Desk) -> None:
    assert desk.stack().commit([]) == desk.trunk
    assert desk.stack().steps([]) == []


@pytest.mark.parametrize(
    ("numbers", "words"),
    [([], ""), ([1], "#1"), ([1, 2], "#1 and #2"), ([1, 2, 3], "#1, #2 and #3")],
)
def test_numbers_in_words(numbers: list[int], words: str) -> None:
    assert merge_stack.names(numbers) == words
