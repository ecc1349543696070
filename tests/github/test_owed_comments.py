"""Issues whose status comment must be written are noted until it is."""

from pathlib import Path

from ghp_agents.github import owed_comments
from tests.support import hubs


def test_what_is_owed_is_known_to_the_next_process_until_it_is_written(repo: Path) -> None:
    assert owed_comments.owed(hubs.workspace(repo)) == set()
    owed_comments.owe(hubs.workspace(repo), [3, 7])
    owed_comments.owe(hubs.workspace(repo), [7])
    owed_comments.written(hubs.workspace(repo), 3)
    owed_comments.written(hubs.workspace(repo), 9)
    assert owed_comments.owed(hubs.workspace(repo)) == {7}


def test_where_nothing_can_be_noted_nothing_fails(repo: Path) -> None:
    ws = hubs.workspace(repo)
    folder = ws.ghp_dir / owed_comments.FOLDER
    folder.parent.mkdir(parents=True)
    folder.write_text("")
    owed_comments.owe(ws, [3])
    owed_comments.written(ws, 3)
    assert owed_comments.owed(ws) == set()
