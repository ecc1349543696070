"""Messages as agents and people use them, in two clones."""

import json
from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.ghp import invoke, succeed
from tests.support.repos import Prepared

# Their clock stands still, and the other clone syncs at once.
pytestmark = pytest.mark.no_background


def go(folder: Path, *lines: str) -> None:
    """Commands that succeed, all at one time."""
    succeed(folder, *lines, clock=ManualClock())


def acquainted(one: Path, two: Path) -> None:
    """worker-1 and worker-2, each in a clone, that know each other."""
    for folder, name in ((one, "worker-1"), (two, "worker-2")):
        go(folder, f"agent-whoami --set {name}", "agent-heartbeat", "agent-sync")
    go(one, "agent-sync")


@pytest.fixture
def pair(prepared: Prepared) -> tuple[Path, Path]:
    return prepared(acquainted)


def run(cwd: Path, *words: str, stdin: str = "") -> tuple[int, str, str]:
    done = invoke(words, cwd, stdin=stdin, clock=ManualClock())
    return done.code, done.out, done.err


def sent(cwd: Path, *words: str) -> str:
    """The id of a message that is sent now."""
    code, out, _ = run(cwd, "agent-send", *words)
    assert code == 0
    return out.strip()


def test_metadata_travels_with_a_message_and_is_shown(clone: Path) -> None:
    fields = clone / "fields.json"
    fields.write_text('{"ticket": "X-1", "steps": [1, 2]}')
    name = sent(clone, "worker-2", "Test it", "--metadata", f"@{fields}")
    shown = json.loads(run(clone, "agent-thread", name, "--json")[1])
    assert [message["metadata"] for message in shown] == [{"ticket": "X-1", "steps": [1, 2]}]
    assert 'Metadata: «{"ticket": "X-1", "steps": [1, 2]}»\n' in run(clone, "agent-thread", name)[1]
    for wrong in ("[]", "@none.json", '{"token": "ghp_aB3dE6gH9jaB3dE6gH9jaB3dE6gH9jaB3dE6"}'):
        assert run(clone, "agent-send", "worker-2", "Test it", "--metadata", wrong)[:2] == (2, "")


@pytest.mark.slow
def test_a_request_is_made_done_and_heard_in_two_clones(pair: tuple[Path, Path]) -> None:
    one, two = pair
    name = sent(one, "worker-2", "Test the parser", "--kind", "request", "--body", "src/a.py")
    go(two, "agent-sync")
    code, out, err = run(two, "agent-inbox")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["ID", "STATE", "KIND", "FROM", "TO", "SENT", "SUBJECT"]
    assert out.splitlines()[1].split()[:5] == [name[:6], "new", "request", "worker-1", "worker-2"]
    assert run(two, "agent-inbox", "claim", name) == (
        0, "", f"✓ Claimed {name} from worker-1: Test the parser\n",
    )  # fmt: skip
    done = run(two, "agent-inbox", "done", name, "--result", "Fine.", "--artifact", "src/a.py")
    assert done == (0, "", f"✓ Completed {name} from worker-1: Test the parser\n")
    go(one, "agent-sync")
    assert run(one, "agent-status")[1].endswith(
        f"agent worker-2 has begun with your {name} «Test the parser».\n"
        f"agent worker-2 has done your {name} «Test the parser»:\n"
        "> Fine.\nArtifacts: src/a.py.\n"
    )
    assert "has done your" not in run(one, "agent-status")[1]


@pytest.mark.slow
def test_an_inbox_lists_what_is_open_and_all_on_request(pair: tuple[Path, Path]) -> None:
    one, two = pair
    name = sent(one, "worker-2", "FYI")
    go(two, "agent-sync", f"agent-inbox read {name}")
    assert run(two, "agent-inbox") == (
        0, "", "No new messages for worker-2. `ghp agent-inbox --all` lists 1 older.\n",
    )  # fmt: skip
    (letter,) = json.loads(run(two, "agent-inbox", "list", "--all", "--json")[1])
    assert (letter["id"], letter["sender"], letter["state"]) == (name, "worker-1", "resolved")


@pytest.mark.slow
def test_a_conversation_is_printed_whole(pair: tuple[Path, Path]) -> None:
    one, two = pair
    first = sent(one, "worker-2", "Which port?", "--kind", "question")
    go(two, "agent-sync")
    reply = sent(two, "worker-1", "8080", "--reply-to", first[:8])
    go(two, f"agent-inbox fail {first} --reason Unknown")
    go(one, "agent-sync")
    thread = json.loads(run(one, "agent-thread", reply, "--json")[1])
    assert [(message["kind"], message["sender"], message["about"]) for message in thread] == [
        ("question", "worker-1", None), ("note", "worker-2", first), ("failed", "worker-2", first),
    ]  # fmt: skip
    assert run(one, "agent-thread", reply)[1].count("Subject: ") == 2


@pytest.mark.slow
def test_a_body_comes_from_a_file_or_from_standard_input(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    (one / "body.md").write_text("From a file.\n")
    by_file = sent(one, "worker-2", "One", "--body-file", "body.md")
    code, out, _ = run(one, "agent-send", "worker-2", "Two", "--body-file", "-", stdin="Piped.\n")
    assert code == 0
    for name, body in ((by_file, "From a file."), (out.strip(), "Piped.")):
        (shown,) = json.loads(run(one, "agent-thread", name, "--json")[1])
        assert shown["body"] == body


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["worker-2"], "A message needs a recipient and a subject."),
        (["Nobody Here", "Hi"], "'Nobody Here' is not a valid agent name."),
        (["@No Body", "Hi"], "'@No Body' is not a group of agents."),
        (["@code.completed", "Hi"], "Messages to code.completed need a payload."),
        (["worker-2", "Hi", "--body", "a", "--body-file", "b"], "--body and --body-file exclude"),
        (["worker-2", "Hi", "--body-file", "missing.md"], "Cannot read missing.md: No such file"),
        (["worker-2", "Hi", "--kind", "command"], "Only people and orchestrators may command"),
        (["worker-2", "Hi", "--reply-to", "M-ffff"], "There is no message M-ffff."),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_is_said_with_what_to_do(
    pair: tuple[Path, Path], words: list[str], error: str
) -> None:
    one, two = pair
    code, out, err = run(one, "agent-send", *words)
    assert (code in (1, 2, 3), out) == (True, "")
    assert err.startswith(f"Error: {error}")
    assert "\nHint: " in err
    go(two, "agent-sync")
    assert run(two, "agent-inbox")[2] == "No new messages for worker-2.\n"


@pytest.mark.slow
def test_a_topic_is_described_listened_to_and_sent_to(pair: tuple[Path, Path]) -> None:
    one, two = pair
    assert run(one, "agent-topic", "new", "build.broken", "Main does not build") == (
        0, "", "✓ Described build.broken. To send to it: `ghp agent-send @build.broken SUBJECT`.\n",
    )  # fmt: skip
    go(two, "agent-sync")
    assert run(two, "agent-topic", "describe", "build.broken")[1] == (
        "build.broken: Main does not build (described by worker-1)\n"
    )
    assert run(two, "agent-subscribe", "build.*", "--ignore", "build.noise")[2] == (
        "✓ worker-2 is subscribed to project_updates, security.>, build.*; it ignores "
        "build.noise.\n"
    )
    go(two, "agent-sync")
    go(one, "agent-sync")
    name = sent(one, "@build.broken", "Main is red since 2907e5b")
    go(two, "agent-sync")
    assert f"Note {name} to @build.broken by agent worker-1" in run(two, "agent-status")[1]
    topics = json.loads(run(two, "agent-topic", "list", "--json")[1])
    (build,) = [topic for topic in topics if topic["topic"] == "build.broken"]
    assert (build["messages"], build["hasSchema"]) == (1, False)


def test_a_typed_topic_shows_its_fields_and_an_example(pair: tuple[Path, Path]) -> None:
    assert run(pair[0], "agent-topic", "describe", "task.progress")[1] == (
        "task.progress: How far a task is.\n"
        "  task: a text\n"
        "  step: a whole number\n"
        "  steps: a whole number (optional)\n"
        "  detail: a text (optional)\n"
        "Example: ghp agent-send @task.progress SUBJECT --payload "
        '\'{"task": "…", "step": 1}\'\n'
    )


@pytest.mark.slow
def test_what_an_agent_hears_is_shown_and_can_be_nothing(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    assert run(one, "agent-subscribe")[1] == (
        "worker-1 is subscribed to project_updates, security.> (the setting `topics`).\n"
    )
    go(one, "agent-subscribe --none")
    assert json.loads(run(one, "agent-subscribe", "--json")[1]) == {
        "schemaVersion": 1, "agent": "worker-1", "listens": [], "ignores": [">"],
        "isolated": True, "isDefault": False, "asks": True,
    }  # fmt: skip


@pytest.mark.slow
def test_who_sent_sees_what_became_of_it_and_so_does_a_person(pair: tuple[Path, Path]) -> None:
    one, two = pair
    name = sent(one, "worker-2", "Review it", "--kind", "review")
    by_hand = sent(one, "worker-2", "By hand", "--as", "@me")
    go(two, "agent-sync", f"agent-inbox done {name} --verdict approve")
    go(one, "agent-sync")
    (mine,) = json.loads(run(one, "agent-inbox", "--sent", "--json")[1])
    assert (mine["id"], mine["state"]) == (name, "resolved")
    (persons,) = json.loads(run(one, "agent-inbox", "--as", "@me", "--json")[1])
    assert persons["id"] == by_hand


@pytest.mark.slow
def test_a_wrong_id_after_a_right_one_changes_nothing(pair: tuple[Path, Path]) -> None:
    one, two = pair
    name = sent(one, "worker-2", "Test it", "--kind", "request")
    go(two, "agent-sync")
    code, _, err = run(two, "agent-inbox", "done", name, "M-ffff")
    assert code == 1
    assert err.startswith("Error: There is no message M-ffff.")
    go(one, "agent-sync")
    assert "has done your" not in run(one, "agent-status")[1]


@pytest.mark.parametrize("description", ["", " ", "x" * 91])
def test_a_topic_needs_a_short_description(pair: tuple[Path, Path], description: str) -> None:
    code, _, err = run(pair[0], "agent-topic", "new", "build.broken", description)
    assert (code, err.splitlines()[0]) == (2, "Error: A description has 1 to 90 characters.")


@pytest.mark.slow
def test_the_doctor_finds_nothing_wrong_with_messages(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    sent(one, "worker-2", "Review it", "--kind", "review", "--body", "src/a.py")
    go(one, "agent-subscribe code.>")
    document = json.loads(run(one, "agent-doctor", "--json")[1])
    (readable,) = [finding for finding in document if finding["code"] == "unreadable"]
    assert readable["text"].startswith("All ")


@pytest.mark.slow
def test_conversations_are_exported_once_and_again_when_they_go_on(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = pair
    out = tmp_path / "my export"
    assert run(one, "agent-export", "--to", str(out))[2] == "No messages.\n"
    name = sent(one, "worker-2", "Review it", "--kind", "review", "--body", "src/a.py")
    exported = run(one, "agent-export", "--to", str(out))
    assert exported == (0, "", f"✓ Exported 1 conversation to {out}: 2 files written.\n")
    again = f"✓ Nothing to do: {out} has the 1 conversation already.\n"
    assert run(one, "agent-export", "--to", str(out))[2] == again
    go(two, "agent-sync", f"agent-inbox done {name} --verdict approve --result Fine")
    go(one, "agent-sync")
    assert run(one, "agent-export", "--to", str(out))[0] == 0
    assert "worker-2 completed it" in (out / "timeline.md").read_text()
    none = run(one, "agent-export", "--to", str(out), "--since", "2100-01-01")
    assert none[2] == "No messages since then.\n"


@pytest.mark.slow
def test_an_export_to_an_unknown_home_names_the_mistake(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    sent(one, "worker-2", "Review it", "--kind", "review")
    code, out, err = run(one, "agent-export", "--to", "~nobody-here/x")
    assert (code, out) == (2, "")
    assert "There is no home folder for ~nobody-here." in err


@pytest.mark.slow
def test_a_channel_is_a_file_that_agents_and_people_share(pair: tuple[Path, Path]) -> None:
    one, two = pair
    for folder in pair:
        (folder / ".ghp").mkdir(exist_ok=True)
        (folder / ".ghp/channels.yaml").write_text("channels: {general: {permissions: [user]}}")
    file = two / ".ghp/channels/general.md"
    assert run(one, "agent-send", "@general", "Hello")[0] == 3
    assert run(one, "agent-send", "@general", "Hello", "--as", "@me")[0] == 0
    assert "```@" in (one / ".ghp/channels/general.md").read_text()
    go(two, "agent-sync")
    assert "\nHello\n" in file.read_text()
    with file.open("a") as end:
        end.write("Who has time?\n")
    assert "Sent what you wrote" not in run(two, "agent-status")[2], "an agent runs it"
    assert "text that nobody has sent" in run(two, "agent-status", "--as", "@me")[2]
    assert (
        "Sent what you wrote in .ghp/channels/general.md"
        in run(two, "agent-send", "--written", "--yes", "--as", "@me")[2]
    )
    go(one, "agent-sync")
    assert "Who has time?" in run(one, "agent-inbox")[1]
    assert "Who has time?" in (one / ".ghp/channels/general.md").read_text()
    (one / ".ghp/channels.yaml").write_text("channels: 1")
    assert run(one, "agent-inbox")[2].startswith(
        "Warning: .ghp/channels.yaml cannot be used: it has no `channels:` with a name for each.\n"
        "Hint: `docs/messages.md` shows its form.\n"
    )
