"""Guards in clients' files: put in once, renewed, taken out without a trace."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import GhpError
from ghp_agents.core.jsonc import parse
from ghp_agents.core.jsonc_edit import fresh
from ghp_agents.integrations.clients import hook_entries as guard
from ghp_agents.integrations.clients import statusline
from ghp_agents.integrations.clients.events import CLIENTS
from ghp_agents.integrations.clients.hook_entries import (
    Lists,
    called,
    document,
    entries,
    is_void,
    lists,
    places,
    put,
    remove_entries,
)
from tests.support.json_texts import Written, written

PYTHON = "/opt/ghp agents/bin/python"
FILES = ("claude", "codex", "gemini", "cursor")


def subscribed(client: str) -> str:
    return next(hook.matcher for hook in CLIENTS[client] if hook.kind == "edit")


each_client = pytest.mark.parametrize("client", FILES)


def test_claude_starts_the_interpreter_itself_and_waits_in_seconds() -> None:
    assert entries("claude", PYTHON)["PreToolUse"] == {
        "matcher": subscribed("claude"),
        "hooks": [
            {
                "type": "command",
                "command": PYTHON,
                "args": ["-P", "-m", "ghp_agents", "hook", "claude"],
                "timeout": 10,
            }
        ],
    }
    assert "matcher" not in entries("claude", PYTHON)["Stop"]


def test_codex_has_a_shell_for_which_the_path_is_quoted() -> None:
    (handler,) = entries("codex", PYTHON)["SessionStart"]["hooks"]
    assert handler == {
        "type": "command",
        "command": "'/opt/ghp agents/bin/python' -P -m ghp_agents hook codex",
        "timeout": 30,
    }


def test_gemini_waits_in_milliseconds_and_has_names() -> None:
    (handler,) = entries("gemini", "/py")["BeforeTool"]["hooks"]
    assert handler == {
        "name": "ghp-agents",
        "type": "command",
        "command": "/py -P -m ghp_agents hook gemini || exit 1",
        "timeout": 10_000,
    }


def test_cursor_has_handlers_without_groups_and_a_version() -> None:
    assert entries("cursor", "/py")["preToolUse"] == {
        "matcher": subscribed("cursor"),
        "command": "/py -P -m ghp_agents hook cursor",
        "timeout": 10,
    }
    assert list(document("cursor", "/py")) == ["version", "hooks"]
    assert is_void('{"version": 1}', "cursor")


@each_client
def test_every_event_that_is_listened_to_has_one_entry(client: str) -> None:
    wanted = document(client, "/py")["hooks"]
    assert list(wanted) == [listening.event for listening in CLIENTS[client]]
    assert [place.event for place in places(fresh({"hooks": wanted}))] == list(wanted)


# ------------------------------------------------------------------------------ recognising


@pytest.mark.parametrize(
    ("handler", "python"),
    [
        ({"command": "/py", "args": ["-P", "-m", "ghp_agents", "hook", "claude"]}, "/py"),
        ({"command": "/py -P -m ghp_agents hook codex"}, "/py"),
        ({"command": "'/a b/py' -I -m ghp_agents hook codex --new"}, "/a b/py"),
        ({"command": "echo ghp_agents hook"}, None),
        ({"command": "echo '-m ghp_agents hook'"}, None),
        ({"command": "echo 'open"}, None),
        ({"command": ["/py", "-m", "ghp_agents", "hook"]}, None),
        ({"type": "http", "url": "http://localhost"}, None),
        ("text", None),
        (None, None),
    ],
)
def test_ours_is_what_calls_our_hook(handler: Any, python: str | None) -> None:
    assert called(handler) == python


# ------------------------------------------------------------------------------ putting in

THEIRS = """\
{
    // my own
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./check.sh" }] }
        ],
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
    },
    "model": "x" // the best
}
"""


def test_the_users_own_hooks_stay_and_ours_come_behind_them() -> None:
    text = put(THEIRS, "claude", "/py")
    hooks = parse(text).value["hooks"]
    assert [called(group["hooks"][0]) for group in hooks["PreToolUse"]] == [None, "/py"]
    assert [called(group["hooks"][0]) for group in hooks["Stop"]] == [None, "/py"]
    assert hooks.keys() == entries("claude", "/py").keys()
    for line in THEIRS.splitlines()[:-2]:
        assert line.rstrip(", }]") in text
    assert remove_entries(text) == THEIRS


@each_client
def test_putting_in_again_changes_nothing(client: str) -> None:
    for text in (THEIRS, "{}", fresh(document(client, "/py"))):
        once = put(text, client, "/py")
        assert put(once, client, "/py") == once


@each_client
def test_an_interpreter_that_moved_is_replaced_where_it_stands(client: str) -> None:
    before = put(THEIRS, client, "/old/py")
    after = put(before, client, "/new/py")
    assert after == before.replace("/old/py", "/new/py")
    assert {place.python for place in places(after)} == {"/new/py"}
    assert remove_entries(after) == THEIRS


def test_an_entry_of_another_version_is_renewed_and_one_too_many_goes() -> None:
    ours = {"type": "command", "command": "/py -m ghp_agents hook claude"}
    theirs = {"type": "command", "command": "mine"}
    old = {
        "hooks": {
            "Stop": [{"hooks": [ours]}, {"matcher": "x", "hooks": [ours]}],
            "PreToolUse": [{"matcher": "Edit", "hooks": [theirs, ours]}],
            "SubagentStop": [{"hooks": [ours]}],
        }
    }
    hooks = parse(put(fresh(old), "claude", "/py")).value["hooks"]
    wanted = entries("claude", "/py")
    assert hooks["Stop"] == [wanted["Stop"]]
    assert hooks["PreToolUse"] == [{"matcher": "Edit", "hooks": [theirs]}, wanted["PreToolUse"]]
    assert hooks.keys() == wanted.keys(), "what only an older version listened to goes"
    kept = put(fresh(old), "claude", "/py", Lists(events=frozenset(["SubagentStop"])))
    assert parse(kept).value["hooks"]["SubagentStop"] == [], "the list was there before us"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "it does not contain an object"),
        ('{"hooks": []}', "`hooks` is not an object"),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, message: str) -> None:
    with pytest.raises(GhpError, match=message):
        put(text, "claude", "/py")


# ------------------------------------------------------------------------------ taking out


def test_what_the_user_put_beside_ours_stays() -> None:
    text = put(THEIRS, "claude", "/py")
    mine = text.replace('"model": "x"', '"model": "y"').replace("say done", "say it")
    assert remove_entries(mine) == THEIRS.replace('"x"', '"y"').replace("say done", "say it")


def test_a_handler_that_the_user_put_into_our_group_stays() -> None:
    value = json.loads(fresh(document("claude", "/py")))
    value["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "mine"})
    left = parse(remove_entries(fresh(value))).value
    assert left == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


@each_client
def test_a_file_with_nothing_but_ours_is_void_afterwards(client: str) -> None:
    assert is_void(remove_entries(fresh(document(client, "/py"))), client)


def test_where_nothing_is_ours_nothing_is_changed() -> None:
    for text in (THEIRS, "{}", '{"hooks": {}}', '{"hooks": {"Stop": []}}'):
        assert remove_entries(text) == text


GROUPS = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), max_size=2)},
        optional={"matcher": st.text(max_size=3)},
    ),
    max_size=3,
)
EVENTS = st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse", "SessionStart", "stop", "BeforeTool", "Mine"]),
    GROUPS,
    max_size=3,
)
STATUS_LINES = st.fixed_dictionaries({"command": st.text(max_size=4)}, optional={"a": st.just(1)})
SETTINGS = st.fixed_dictionaries(
    {}, optional={"version": st.just(1), "hooks": EVENTS, "x": st.text(max_size=4),
                  "statusLine": STATUS_LINES},
)  # fmt: skip


@pytest.mark.slow
@given(st.sampled_from(FILES), written(SETTINGS), st.booleans())
def test_putting_in_and_taking_out_gives_the_same_text(
    client: str, file: Written, moved: bool
) -> None:
    text, theirs = file.text, lists(file.text)
    hooked = put(text, client, "/py", theirs)
    assert len(places(hooked)) == len(CLIENTS[client])
    assert put(hooked, client, "/py", theirs) == hooked
    if client == "claude":
        hooked = statusline.put(hooked, "/py", {"type": "command", "command": "inherited"})
    if moved:
        hooked = put(hooked, client, "/other/py", theirs)
        hooked = statusline.put(hooked, "/other/py", None) if client == "claude" else hooked
    if client == "claude":
        hooked = statusline.remove_line(hooked)
    assert remove_entries(hooked, theirs) == text


EMPTIES = [
    '{"version": 1, "hooks": {}}',
    '{"hooks": {}}\n',
    '{"hooks": {"PreToolUse": []}, "x": 1}',
    '{ "hooks" : { } , "a":1}',
    '{\n  "hooks": {\n    "Stop": [ ] // none\n  }\n}',
]


@each_client
@pytest.mark.parametrize("text", EMPTIES)
def test_what_was_empty_before_ours_came_stays_there_empty(client: str, text: str) -> None:
    theirs = lists(text)
    assert remove_entries(put(text, client, "/py", theirs), theirs) == text


def test_lists_are_theirs_that_hold_nothing_of_ours() -> None:
    text = put('{"hooks": {"Stop": [{"hooks": []}], "Mine": []}}', "claude", "/py")
    assert lists(text) == Lists(False, frozenset(["Mine"]))
    assert lists("{}") == Lists()
    assert lists('{"hooks": {"Stop": []}}') == Lists(True, frozenset(["Stop"]))


def test_the_homes_are_those_of_the_clients_that_are_hooked() -> None:
    assert list(guard.HOMES) == list(CLIENTS)
