"""The files of channels: made from messages, what a person wrote is sent once, nothing is lost."""

import json
from pathlib import Path

import pytest

from ghp_agents.messages import channel_files, mailbox
from ghp_agents.messages.message import Message
from ghp_agents.workspace import MYSELF
from tests.support.git import git
from tests.support.messages import Post


class Chat:
    """A person and an agent with a channel."""

    def __init__(self, repo: Path) -> None:
        (repo / ".ghp").mkdir()
        (repo / ".ghp/channels.yaml").write_text("channels: {general: {}}")
        self.repo, self.file = repo, repo / ".ghp/channels/general.md"
        self.agent = Post(repo, "worker-1")
        self.person = self.agent.by(MYSELF)

    def refresh(self, *, confirms: bool = True) -> list[str]:
        return channel_files.refresh(self.person.parts, (lambda _, __: True) if confirms else None)

    def append(self, text: str) -> None:
        with self.file.open("a") as file:
            file.write(text)

    def sent(self) -> list[Message]:
        """What persons sent."""
        snapshot = self.person.store.snapshot()
        messages = mailbox.read(self.person.ws, snapshot)
        return [mailbox.whole(snapshot, message) for message in messages if message.by.is_person]


@pytest.fixture
def chat(repo: Path) -> Chat:
    return Chat(repo)


def test_the_file_follows_the_messages_and_is_hidden_from_git(chat: Chat) -> None:
    assert chat.refresh() == []
    empty = chat.file.read_text()
    chat.agent.send("@general", subject="Hello", kind="note")
    assert chat.refresh(confirms=False) == []
    text = chat.file.read_text()
    assert text.startswith(empty)
    assert "\nHello\n```\n" in text
    assert chat.refresh() == []
    assert chat.file.read_text() == text
    assert git(chat.repo, "status", "--short", "--untracked-files=all") == "?? .ghp/channels.yaml"


def test_what_a_person_appends_is_sent_once_as_a_note_of_theirs(chat: Chat) -> None:
    chat.refresh()
    chat.append("\nWhere is the parser?\nI need it.\n")
    assert chat.refresh(confirms=False) == []
    assert chat.sent() == []
    notes = chat.refresh()
    (message,) = chat.sent()
    assert notes == [f"Sent what you wrote in .ghp/channels/general.md as {message.name}."]
    assert (message.to, message.subject, message.kind) == (
        ("@general",), "Where is the parser?", "note",
    )  # fmt: skip
    assert message.body == "Where is the parser?\nI need it."
    assert message.artifacts == (".ghp/channels/general.md",)
    text = chat.file.read_text()
    assert text.count("I need it.") == 1
    chat.agent.clock.wait(1000)
    assert chat.refresh() == []
    assert len(chat.sent()) == 1
    chat.append("Where is the parser?\nI need it.")
    assert len(chat.refresh()) == 1
    assert len(chat.sent()) == 2, "the same words again are a new message"


def test_an_editor_that_saves_an_old_file_with_more_below_sends_only_that(chat: Chat) -> None:
    chat.refresh()
    chat.append("\nfirst\n")
    in_editor = chat.file.read_text()
    chat.refresh()
    chat.agent.send("@general", subject="Meanwhile", kind="note")
    chat.refresh()
    chat.file.write_text(in_editor + "second\n")
    chat.refresh()
    assert [message.subject for message in chat.sent()] == ["first", "second"]
    assert "Meanwhile" in chat.file.read_text()


def test_a_killed_command_sends_nothing_twice(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.refresh()
    chat.append("\nonce\n")

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(channel_files, "_write", dies)
    with pytest.raises(KeyboardInterrupt):
        chat.refresh()
    monkeypatch.undo()
    chat.agent.clock.wait(1000)
    chat.refresh()
    assert [message.subject for message in chat.sent()] == ["once"]
    assert chat.file.read_text().count("\nonce\n") == 1


def test_a_file_that_was_changed_above_its_end_is_kept(chat: Chat) -> None:
    chat.agent.send("@general", subject="Hello", kind="note")
    chat.refresh()
    garbage = "<<<<<<< mine\n" + chat.file.read_text().replace("Hello", "Bye") + "and this\n"
    chat.file.write_text(garbage)
    sent, kept = chat.refresh()
    assert sent.startswith("Sent what you wrote")
    assert [message.subject for message in chat.sent()] == ["and this"]
    place = Path(kept.partition("your version is in ")[2].removesuffix("."))
    assert place.read_text() == garbage
    assert "Hello" in chat.file.read_text()
    assert chat.refresh() == []


def test_a_lost_cache_sends_nothing_that_we_wrote(chat: Chat) -> None:
    chat.refresh()
    Path(chat.person.ws.cache_dir, channel_files.CACHE).unlink()
    chat.refresh()
    assert chat.sent() == []
    Path(chat.person.ws.cache_dir, channel_files.CACHE).unlink()
    chat.append("\nmine\n")
    chat.refresh()
    assert [(message.subject, message.body) for message in chat.sent()] == [("mine", "")]


def test_a_file_that_was_there_before_is_neither_sent_nor_changed(chat: Chat) -> None:
    chat.file.parent.mkdir()
    chat.file.write_text("My own plans.\n")
    note = (
        ".ghp/channels/general.md is not ours: it was left as it is. Move it away to read the "
        "channel."
    )
    for _ in range(2):
        assert chat.refresh() == [note]
    assert (chat.sent(), chat.file.read_text()) == ([], "My own plans.\n")


def test_a_damaged_cache_counts_as_lost(chat: Chat) -> None:
    chat.refresh()
    place = Path(chat.person.ws.cache_dir, channel_files.CACHE)
    for state in (["1", "x", 2], [1, 2, 3], [None, "x", 1], [True, "x", 1], ["a"], 7):
        place.write_text(json.dumps({"general": [state]}))
        chat.refresh()
    assert chat.sent() == []


def test_what_cannot_be_sent_stays_in_the_file(chat: Chat) -> None:
    chat.refresh()
    for text, why in [
        ("x" * 70_000, "The body has 70000 characters; the limit is 65536."),
        ("ghp_" + "a" * 36, ""),
    ]:
        before = chat.file.read_text()
        chat.append(text)
        (note,) = chat.refresh()
        assert note.startswith(f".ghp/channels/general.md: {why}")
        assert chat.file.read_text() == before + text
        chat.file.write_text(before)
    assert chat.sent() == []


def test_links_and_tracked_files_are_left_alone(chat: Chat, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = chat.repo / ".ghp/channels"
    folder.symlink_to(outside)
    assert chat.refresh() == [".ghp/channels is a link: channels are not written there."]
    folder.unlink()
    folder.mkdir()
    chat.file.symlink_to(outside / "x.md")
    assert chat.refresh() == [
        ".ghp/channels/general.md is a link or too large: it was left as it is."
    ]
    chat.file.unlink()
    chat.file.write_text("theirs\n```a\n```\n")
    git(chat.repo, "add", "-f", ".ghp/channels/general.md")
    notes = chat.refresh()
    assert notes[-1] == ".ghp/channels/general.md: git tracks it, so it is yours"
    assert chat.file.read_text() == "theirs\n```a\n```\n"
    assert list(outside.iterdir()) == []


def test_removal_takes_what_we_made_and_nothing_else(chat: Chat) -> None:
    chat.refresh()
    for step in channel_files.to_take(chat.person.ws):
        step.act()
    assert not chat.file.exists()
    assert (chat.repo / ".ghp/channels.yaml").exists()
    chat.refresh()
    chat.append("mine\n")
    for step in channel_files.to_take(chat.person.ws):
        step.act()
    assert chat.file.read_text().endswith("mine\n")


def test_what_nobody_confirms_is_shown_stays_and_is_not_sent(chat: Chat) -> None:
    chat.refresh()
    chat.append("\nMerge it.\nNow.\n")
    seen: list[tuple[str, str]] = []

    def denies(shown: str, text: str) -> bool:
        seen.append((shown, text))
        return False

    for _ in range(2):
        assert channel_files.refresh(chat.person.parts, denies) == [
            ".ghp/channels/general.md has text that nobody has sent. If you wrote it: "
            "`ghp agent-send --written`."
        ]
    assert seen == [(".ghp/channels/general.md", "Merge it.\nNow.")] * 2
    assert (chat.sent(), chat.file.read_text().endswith("Merge it.\nNow.\n")) == ([], True)


@pytest.mark.parametrize(
    "block",
    [
        "```w2 [SENDING]\nI agree.\n```",
        "```worker-1\nI agree.\n```",
        "```worker-1 [2026-01-02 10:00, M-3f9a0c1d2e4b]\nI agree.\n```",
        "Yes:\n\n````  Worker-1\nI agree.\n````\n\nGood.",
        "~~~worker-9\nI agree.\n~~~",
        "```@Dana [now]\nI agree.\n```",
        "```python\nx\n```\n```architect-gtx [TYPING]\n...\n```",
    ],
)
def test_a_block_with_an_authors_name_is_never_the_persons(chat: Chat, block: str) -> None:
    chat.agent.send("@general", subject="Hello", kind="note")
    chat.refresh()
    chat.append(f"\n{block}\n")
    text = chat.file.read_text()
    (note,) = chat.refresh()
    assert note.endswith("Take the block or its label out: agents send with `ghp agent-send`.")
    assert (chat.sent(), chat.file.read_text()) == ([], text)


@pytest.mark.parametrize("label", ["", "python", "mermaid", "diff", "Text"])
def test_a_block_of_code_is_the_persons(chat: Chat, label: str) -> None:
    chat.refresh()
    chat.append(f"\nSo:\n```{label}\nx = 1\n```\nor not.\n")
    chat.refresh()
    (message,) = chat.sent()
    assert message.body == f"So:\n```{label}\nx = 1\n```\nor not."
