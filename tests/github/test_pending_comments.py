"""Issues whose status comment must be written are noted until it is."""

from pathlib import Path

from ghp_agents.github import pending_comments
from tests.support import hubs


def test_a_pending_comment_is_known_to_the_next_process_until_it_is_written(repo: Path) -> None:
    assert pending_comments.pending(hubs.workspace(repo)) == set()
    pending_comments.add(hubs.workspace(repo), [3, 7])
    pending_comments.add(hubs.workspace(repo), [7])
    pending_comments.remove(hubs.workspace(repo), 3)
    pending_comments.remove(hubs.workspace(repo), 9)
    assert pending_comments.pending(hubs.workspace(repo)) == {7}


def test_where_nothing_can_be_noted_nothing_fails(repo: Path) -> None:
    ws = hubs.workspace(repo)
    folder = ws.ghp_dir / pending_comments.FOLDER
    folder.parent.mkdir(parents=True)
    folder.write_text("")
    pending_comments.add(ws, [3])
    pending_comments.remove(ws, 3)
    assert pending_comments.pending(ws) == set()
