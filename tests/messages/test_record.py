"""Messages as files: read back as they were sent, and hostile ones are reported or bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, CloneId, one_line
from ghp_agents.core.metadata import LIMIT, NO_METADATA, Metadata, as_metadata
from ghp_agents.messages.message import KINDS, REPLIES, URGENCIES, Message
from ghp_agents.messages.record import path_of, read, render_message
from tests.support.messages import AT, message

LINES = st.text(max_size=60).map(lambda text: one_line(text, 80))
BODIES = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: text.strip("\n"))
TIMES = st.integers(0, 10**9)
MESSAGES = st.builds(
    Message,
    id=st.text("0123456789abcdef", min_size=12, max_size=12),
    by=st.sampled_from([Actor("worker-1"), Actor("Ada Lovelace", True)]),
    to=st.lists(st.sampled_from(["worker-2", "@all", "w.3"]), min_size=1, unique=True).map(tuple),
    subject=LINES,
    at=st.just(AT),
    clock=st.integers(0, 2**52),
    clone=st.just(CloneId("c1")),
    body=BODIES,
    kind=st.sampled_from([*KINDS, *REPLIES]),
    about=st.sampled_from(["", "3f9a0c1d2e4b"]),
    urgency=st.sampled_from(URGENCIES),
    issue=st.none() | st.integers(1, 2**52),
    ack_within=TIMES,
    done_within=TIMES,
    expires=TIMES,
    pull=TIMES,
    commit=st.sampled_from(["", "3f9a" * 10, "3f9a" * 16]),
    verdict=st.sampled_from(["", "approve", "request-changes"]),
    quorum=TIMES,
    or_agent=st.sampled_from(["", "worker-3"]),
    artifacts=st.lists(LINES, max_size=3).map(tuple),
    claim=TIMES,
    is_payload=st.booleans(),
    workflow=st.sampled_from(["", "review"]),
    step=st.sampled_from(["", "look-at-it"]),
    metadata=st.dictionaries(st.sampled_from("ab: é"), LINES | st.booleans(), max_size=3).map(
        as_metadata
    ),
)


@pytest.mark.slow
@given(MESSAGES)
def test_a_message_is_read_back_as_it_was_sent(sent: Message) -> None:
    assert read({path_of(sent.id): render_message(sent)}) == ([sent], [])


def test_a_message_is_a_file_that_people_can_read() -> None:
    sent = message("3f9a0c1d2e4b", body="Look at src/a.py.", issue=12, ack_within=1800,
                   artifacts=("src/a.py",))  # fmt: skip
    assert path_of(sent.id) == ".ghp/messages/3f/3f9a0c1d2e4b.md"
    assert render_message(sent).decode() == (
        "Timestamp: 2026-01-02T03:04:05Z\n"
        "Sender: worker-1\n"
        "Recipient: worker-2\n"
        "Message-ID: M-3f9a0c1d2e4b\n"
        "Correlation-ID:\n"
        "Content-Type: text/markdown\n"
        "Subject: Review it\n"
        "Kind: request\n"
        "Urgency: normal\n"
        "Sender-Type: agent\n"
        "Clock: 1\n"
        "Clone: c1\n"
        "Schema-Version: 1\n"
        "Issue: 12\n"
        "Ack-Within: 1800 s\n"
        'Artifacts: ["src/a.py"]\n'
        "\n"
        "Look at src/a.py.\n"
    )


def test_the_id_is_that_of_the_path_whatever_the_headers_say() -> None:
    forged = render_message(message("aaaa")).replace(b"Message-ID: M-aaaa", b"Message-ID: M-bbbb")
    ((read_back,), problems) = read({path_of("aaaa"): forged})
    assert (read_back.id, problems) == ("aaaa", [])


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        ("Sender: worker-1", "Sender: not an agent", "'not an agent' is not a valid agent name."),
        ("Sender: worker-1", "Sender: a\nSender: b", "it has the header Sender twice"),
        (
            "Schema-Version: 1",
            "Schema-Version: 2",
            "its schemaVersion is 2, and this program knows",
        ),
    ],
)
def test_a_message_that_cannot_be_believed_is_a_problem(was: str, now: str, reason: str) -> None:
    data = render_message(message()).replace(was.encode(), now.encode())
    messages, (problem,) = read({path_of("3f9a"): data})
    assert messages == []
    assert problem.place == path_of("3f9a")
    assert problem.reason.startswith(reason)


def test_a_kind_of_a_newer_version_is_kept_and_not_shown() -> None:
    data = render_message(message()).replace(b"Kind: request", b"Kind: dance")
    assert read({path_of("3f9a"): data}) == ([], [])


@pytest.mark.parametrize("value", ["[" * 100_000, "{}", "12", '["a", 1]', "nonsense"])
def test_wrong_artifacts_are_left_out(value: str) -> None:
    data = render_message(message(artifacts=("x",))).replace(b'["x"]', value[:60_000].encode())
    ((read_back,), _) = read({path_of("3f9a"): data})
    assert read_back.artifacts in ((), ("a",))


@pytest.mark.parametrize(
    "value", ["[]", "nonsense", '{"a":' * 20 + "1" + "}" * 20, f'{{"a":"{"x" * LIMIT}"}}']
)
def test_wrong_metadata_is_left_out(value: str) -> None:
    data = render_message(message(metadata=Metadata('{"a":1}')))
    ((read_back,), _) = read({path_of("3f9a"): data.replace(b'{"a":1}', value.encode())})
    assert read_back.metadata == NO_METADATA


def test_numbers_that_are_none_count_as_nothing() -> None:
    data = render_message(message(issue=3, ack_within=9)).replace(b"Issue: 3", b"Issue: -3")
    ((read_back,), _) = read({path_of("3f9a"): data.replace(b"9 s", b"9999999999999999999 s")})
    assert (read_back.issue, read_back.ack_within) == (None, 0)


def test_files_beside_messages_are_ignored() -> None:
    assert read({".ghp/messages/3f/readme.txt": b"x", ".ghp/messages/3f9a.md": b"x"}) == ([], [])
