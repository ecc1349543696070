"""The index of messages: as the messages are, read from git only where they changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

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
    messages = mailbox.read(post.ws, counted)  # type: ignore[arg-type]
    everything, problems = record.read(post.store.snapshot().files(record.FOLDER))
    assert problems == []
    expected = sorted(x._replace(body="") for x in everything)
    assert sorted(messages) == expected
    return len(messages), counted.folders


def test_only_folders_that_changed_are_read(repo: Path) -> None:
    post = Post(repo, "worker-1")
    assert read_of(post) == (0, [])
    first = post.send("worker-2", body="One", artifacts=["a"], issue=None).message
    assert read_of(post) == (1, [record.folder_of(first.id)])
    assert read_of(post) == (1, [])
    second = post.send("worker-2", subject="Two", payload="{}").message  # its last field is set
    number, folders = read_of(post)
    assert number == 2
    assert set(folders) <= {record.folder_of(first.id), record.folder_of(second.id)}


def test_a_lost_or_broken_index_is_made_again(repo: Path) -> None:
    post = Post(repo, "worker-1")
    sent = post.send("worker-2", body="One").message
    assert read_of(post) == (1, [record.folder_of(sent.id)])
    index = Path(post.ws.cache_dir, mailbox.FILE)
    whole = index.read_text()
    wrong = ["", "{", "mailbox", "mailbox 7 0\n{}", whole[:-9], whole.replace("x 7", "x 6")]
    for content in (*wrong, "\udcff", whole.replace("worker-2", "worker-3")):
        index.write_text(content, errors="surrogateescape")
        assert read_of(post) == (1, [record.folder_of(sent.id)])
        assert read_of(post) == (1, [])


def test_a_message_has_its_body_only_when_it_is_read(repo: Path) -> None:
    post = Post(repo, "worker-1")
    sent = post.send("worker-2", body="One").message
    snapshot = post.store.snapshot()
    (message,) = mailbox.read(post.ws, snapshot)
    assert message == sent._replace(body="")
    assert mailbox.whole(snapshot, message) == sent
    assert mailbox.whole(snapshot, message._replace(id="ffff")).body == ""


def test_an_agent_gets_its_own_messages_those_to_groups_and_what_answers_them(repo: Path) -> None:
    post = Post(repo, "worker-1")
    two, three = post.by("worker-2"), post.by("worker-3")
    request = post.send("worker-2", subject="One", kind="request", artifacts=["a", "b"]).message
    two.claim(request.id)
    two.done(request.id)
    group = two.send("@all", subject="Two").message
    others = [two.send("worker-3", subject="Three").message]
    others.append(three.send("worker-2", subject="Four", reply_to=others[0].id).message)
    others.append(two.send("worker-3", subject="Five", reply_to=others[1].id).message)
    snapshot = post.store.snapshot()
    everything = mailbox.read(post.ws, snapshot)
    answers = [x for x in everything if x.about == request.id]
    assert [x.kind for x in answers] == ["ack", "done"]
    mine = mailbox.of(post.ws, snapshot, "worker-1")
    assert mine == [x for x in everything if x not in others]
    assert {group.id, request.id} < {x.id for x in mine}
    for word in (others[1].name, others[2].id[:8]):
        assert mailbox.of(post.ws, snapshot, "worker-1", word) == everything
    assert mailbox.of(post.ws, snapshot, "worker-1", "ffff") == mine


def test_what_has_a_time_is_found_with_its_replies(repo: Path) -> None:
    one = Post(repo, "worker-1")
    one.send("worker-2", subject='Not ["this"], !["nor that"')
    request = one.send("worker-2", kind="request", done_within=60).message
    answer = one.send("worker-2", reply_to=request.name, kind="question", ack_within=60).message
    ack = one.by("worker-2").claim(request.name).reply
    assert mailbox.timed(one.ws, one.store.snapshot()) == [request, answer, ack]


@pytest.mark.slow
def test_many_folders_that_changed_are_read_at_once(repo: Path) -> None:
    post = Post(repo, "worker-1")
    for number in range(20):
        post.send("worker-2", subject=f"Part {number}")
    Path(post.ws.cache_dir, mailbox.FILE).unlink()
    assert read_of(post) == (20, [record.FOLDER])


class Odd(Counted):
    """A snapshot in which another clone has a folder with a name of its choice."""

    def __init__(self, snapshot: Snapshot, name: str) -> None:
        super().__init__(snapshot)
        self.name = name

    def stamps(self, prefix: str) -> Mapping[str, str]:
        return {**self.snapshot.stamps(prefix), f"{prefix}{self.name}/": "0" * 40}


def test_a_folder_of_another_name_is_not_read(repo: Path) -> None:
    post = Post(repo, "worker-1")
    sent = post.send("worker-2").message
    for name in ("zz", "3F", "3f\n#\n", "a b", "x\nmailbox 3 {}"):
        odd = Odd(post.store.snapshot(), name)
        assert mailbox.read(post.ws, odd) == [sent._replace(body="")]  # type: ignore[arg-type]
        assert f"{record.FOLDER}{name}/" not in odd.folders
