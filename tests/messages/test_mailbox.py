"""The index of messages: as the messages are, read from git only where they changed."""

import json
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.messages import mailbox, record
from ghp_agents.ports import Snapshot
from tests.support.messages import Post


class Counted:
    """A snapshot that counts the folders that are read."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self.folders = snapshot, list[str]()

    def stamps(self, prefix: str) -> Mapping[str, str]:
        return self.snapshot.stamps(prefix)

    def present(self, prefix: str) -> Mapping[str, bytes]:
        self.folders.append(prefix)
        return self.snapshot.present(prefix)


def read_of(post: Post) -> tuple[int, list[str]]:
    """How many messages there are, and the folders that were read for it."""
    counted = Counted(post.store.snapshot())
    found = mailbox.read(post.ws, counted)  # type: ignore[arg-type]
    everything, problems = record.read(post.store.snapshot().files(record.FOLDER))
    assert problems == []
    expected = sorted(each._replace(body="") for each in everything)
    assert sorted(found) == expected
    return len(found), counted.folders


def test_only_folders_that_changed_are_read(repo: Path) -> None:
    post = Post(repo, "worker-1")
    assert read_of(post) == (0, [])
    first = post.send("worker-2", body="One", artifacts=["a"], issue=None).message
    assert read_of(post) == (1, [record.folder_of(first.id)])
    assert read_of(post) == (1, [])
    second = post.send("worker-2", subject="Two").message
    number, folders = read_of(post)
    assert number == 2
    assert set(folders) <= {record.folder_of(first.id), record.folder_of(second.id)}


def test_a_lost_or_broken_index_is_made_again(repo: Path) -> None:
    post = Post(repo, "worker-1")
    sent = post.send("worker-2", body="One").message
    assert read_of(post) == (1, [record.folder_of(sent.id)])
    index = Path(post.ws.cache_dir, mailbox.FILE)
    stale = {"format": 2, "shards": {record.folder_of(sent.id): ["x", 1]}}
    other = ['{"format": 2, "shards": 3}', '{"format": 99, "shards": {}}', json.dumps(stale)]
    for content in ("", "{", "[]", *other):
        index.write_text(content)
        assert read_of(post) == (1, [record.folder_of(sent.id)])
        assert read_of(post) == (1, [])


def test_a_message_has_its_body_only_when_it_is_read(repo: Path) -> None:
    post = Post(repo, "worker-1")
    sent = post.send("worker-2", body="One").message
    snapshot = post.store.snapshot()
    (found,) = mailbox.read(post.ws, snapshot)
    assert found == sent._replace(body="")
    assert mailbox.whole(snapshot, found) == sent
    assert mailbox.whole(snapshot, found._replace(id="ffff")).body == ""
