"""A person at a desktop sees once that an agent needs them; texts of others are only shown."""

import os
from pathlib import Path

import pytest

from ghp_agents.escalations import service as escalation
from ghp_agents.sync import desktop
from ghp_agents.sync.desktop import Notice
from ghp_agents.wiring import App
from tests.support.messages import Post

OFF = ("CI", "DISPLAY", "GHP_BACKGROUND", "SSH_CONNECTION", "WAYLAND_DISPLAY")
HOSTILE = "Rm <b>all</b>? $(id) `id`\x1b[2J"


@pytest.fixture
def one(repo: Path) -> Post:
    return Post(repo, "worker-1")


@pytest.fixture(autouse=True)
def program(tmp_path: Path) -> None:
    (tmp_path / "notify-send").write_text("#!/bin/sh\n")
    (tmp_path / "notify-send").chmod(0o755)


def announce(one: Post, tmp_path: Path, **environ: str) -> list[list[str]]:
    """The commands that are started."""
    plain = {name: value for name, value in os.environ.items() if name not in OFF}
    plain |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{tmp_path}/cache"}
    app = App(one.repo, plain | environ, name="worker-1", clock=one.clock)
    started: list[list[str]] = []
    desktop.announce(app, app.store.snapshot(), lambda words, _: started.append([*words]))
    return started


def test_an_urgent_question_is_shown_once_quoted_and_with_the_next_command(
    one: Post, tmp_path: Path
) -> None:
    escalation.escalate(one.parts, "Not urgent")
    question = escalation.escalate(one.parts, HOSTILE, urgency="high").escalation
    assert announce(one, tmp_path, DISPLAY=":0") == [[
        f"{tmp_path}/notify-send", "--app-name=ghp-agents", "--urgency=critical", "--",
        "worker-1 needs you",
        "«Rm &lt;b&gt;all&lt;/b&gt;? $(id) 'id' [2J» ghp agent-answer " + question.name,
    ]]  # fmt: skip
    assert announce(one, tmp_path, DISPLAY=":0") == []


def test_a_message_that_asks_for_input_is_shown_and_an_answered_question_is_not(
    one: Post, tmp_path: Path
) -> None:
    question = escalation.escalate(one.parts, "Which port?", urgency="high").escalation
    escalation.answer(one.by("@me").parts, question.name, "8080")
    payload = '{"question": "Which port?"}'
    name = one.send("@user.input_required", subject="Which port?", payload=payload).message.name
    shown = announce(one, tmp_path, WAYLAND_DISPLAY="wayland-0")
    assert [words[-1] for words in shown] == [f"«Which port?» ghp agent-thread {name}"]


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"DISPLAY": ":0", "CI": "true"},
        {"DISPLAY": ":0", "SSH_CONNECTION": "here"},
        {"DISPLAY": ":0", "GHP_BACKGROUND": "0"},
    ],
)
def test_nothing_is_shown_where_nobody_sees_it(
    one: Post, tmp_path: Path, environ: dict[str, str]
) -> None:
    escalation.escalate(one.parts, "Which port?", urgency="high")
    assert announce(one, tmp_path, **environ) == []


def test_of_many_new_questions_the_next_sync_shows_the_rest(one: Post, tmp_path: Path) -> None:
    for number in range(desktop.MOST + 1):
        escalation.escalate(one.parts, f"Which port for {number}?", urgency="high")
    shown = [len(announce(one, tmp_path, DISPLAY=":0")) for _ in range(3)]
    assert shown == [desktop.MOST, 1, 0]


def test_the_program_gets_no_token(one: Post, tmp_path: Path) -> None:
    escalation.escalate(one.parts, "Which port?", urgency="high")
    environ = {"DISPLAY": ":0", "GH_TOKEN": "t", "PATH": str(tmp_path), "HOME": str(tmp_path)}
    given: list[set[str]] = []
    app = App(one.repo, environ, name="worker-1", clock=one.clock)
    desktop.announce(app, app.store.snapshot(), lambda _, env: given.append({*env}))
    assert given == [{"DISPLAY", "PATH", "HOME"}]


def test_what_was_asked_long_ago_is_not_shown(one: Post, tmp_path: Path) -> None:
    escalation.escalate(one.parts, "Which port?", urgency="high")
    one.clock.wait(desktop.RECENT)
    assert announce(one, tmp_path, DISPLAY=":0") == []


def test_a_setting_turns_it_off(one: Post, tmp_path: Path) -> None:
    (one.repo / ".ghp").mkdir(exist_ok=True)
    (one.repo / ".ghp/config.json").write_text('{"agents": {"desktop": false}}')
    escalation.escalate(one.parts, "Which port?", urgency="high")
    assert announce(one, tmp_path, DISPLAY=":0") == []


def test_on_a_mac_the_text_is_an_argument_and_no_script() -> None:
    words = desktop.command("/usr/bin/osascript", Notice("3f9a", "worker-1 needs you", HOSTILE))
    assert words[-2:] == ["worker-1 needs you", HOSTILE]
    assert words[1:-2:2] == ["-e"] * 3
    assert all("worker-1" not in word and "Rm" not in word for word in words[:-2])
