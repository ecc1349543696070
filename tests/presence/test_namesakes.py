"""What two living sessions under one name are told."""

import os
from pathlib import Path

from ghp_agents.hotpath import heartbeat
from ghp_agents.presence import namesakes

SESSION = "00000000-0000-4000-8000-00000000bbbb"


def beats(folder: Path, name: str, session: str | None, **fields: object) -> None:
    heartbeat.beat(
        [str(folder)], name, {"status": "idle", **fields}, 1e9,
        session=session, pid=os.getpid(), epoch=1,
    )  # fmt: skip


def test_the_second_session_reads_what_it_may_do(tmp_path: Path) -> None:
    beats(tmp_path, "worker-1", "a", worktree="w", issue=12, generation=1)
    assert namesakes.to_second("worker-1-bbbb", "worker-1", [str(tmp_path)]) == (
        "Another running session has the name worker-1 in worktree w, so this one is "
        "worker-1-bbbb. The files that worker-1 edits and its claim of #12 stay its own: do "
        "other work. When it has ended, take the issue over: `ghp agent-claim 12`."
    )


def test_the_first_session_is_told_of_living_second_ones_only(tmp_path: Path) -> None:
    beats(tmp_path, "worker-1", "a")
    beats(tmp_path, "worker-1-bbbb", SESSION, worktree="w")
    beats(tmp_path, "worker-1-cccc", SESSION)  # a name that somebody chose
    beats(tmp_path, "worker-12", SESSION)
    notice = (
        "Another session started under the name worker-1 in worktree w. It is worker-1-bbbb now. "
        "The files that you edit and your claim stay yours."
    )
    assert namesakes.to_first([str(tmp_path)], "worker-1") == [(notice, "second worker-1-bbbb")]
    assert namesakes.to_first([str(tmp_path)], "worker-1-bbbb") == []
    heartbeat.beat([str(tmp_path)], "worker-1-bbbb", {"status": "stopped"}, 2e9, session=SESSION)
    assert namesakes.to_first([str(tmp_path)], "worker-1") == []


def test_a_worktree_that_gets_a_used_name_says_who_works_there() -> None:
    why = "worker-1 has a running session elsewhere."
    assert namesakes.renamed("worker-1", "worker-1-bbbb") == (
        why, "Until that ends, this session is worker-1-bbbb.",
    )  # fmt: skip
    assert namesakes.renamed("worker-1", "") == (
        why, "Until that ends, a session here gets a name of its own.",
    )  # fmt: skip
