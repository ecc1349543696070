"""The tool server's entry: added, replaced and taken out, with every other byte as it was."""

import json
import tomllib

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.integrations.clients import server_entries as entries
from ghp_agents.integrations.clients.server_entries import FILES, ServerFile

BY_CLIENT = {client: file for file in FILES for client in file.clients}
CLAUDE, CODEX, OPENCODE = BY_CLIENT["claude"], BY_CLIENT["codex"], BY_CLIENT["opencode"]
ARGS = ["-P", "-m", "ghp_agents", "agent-mcp"]


def test_each_client_gets_the_command_in_its_own_shape() -> None:
    for file in FILES:
        text = entries.put(None, file, "/py")
        if file is CODEX:
            (server,) = tomllib.loads(text)["mcp_servers"].values()
            assert server.pop("env_vars")[0] == "GHP_AGENT"
        else:
            (servers,) = json.loads(text).values()
            server = servers["ghp"]
        expected: object = {"command": "/py", "args": ARGS}
        if file is OPENCODE:
            expected = {"type": "local", "command": ["/py", *ARGS], "enabled": True}
        assert server == expected
        assert entries.python_in(text, file) == "/py"
        assert entries.put(text, file, "/py") == text


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (CLAUDE, "{}"),
        (CLAUDE, '{"mcpServers": {"db": {"command": "db"}}, "x": 1}'),
        (CLAUDE, '{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n\t\t"db": {"url": "u"}\r\n\t}\r\n}'),
        (OPENCODE, '{\n  // mine\n  "mcp": {"db": {"type": "remote"},},\n}\n'),
        (CODEX, 'model = "x"\n'),
        (CODEX, 'model = "x"'),
        (CODEX, '[mcp_servers.db]\ncommand = "db"\n\n\n'),
        (CODEX, '[sandbox]\nroots = ["é"]\n# the end\n'),
    ],
)
def test_a_users_file_is_given_back_as_it_was(file: ServerFile, text: str) -> None:
    put = entries.put(text, file, "/a b/py")
    assert entries.python_in(put, file) == "/a b/py"
    again = entries.put(put, file, "/new/py")
    assert entries.python_in(again, file) == "/new/py"
    assert entries.take(again, file) == text
    assert entries.take(text, file) == text


def test_our_lines_are_found_with_the_line_ends_of_windows() -> None:
    put = entries.put('model = "x"\n', CODEX, "/py").replace("\n", "\r\n")
    assert entries.put(put, CODEX, "/py") == put
    assert entries.python_in(put, CODEX) == "/py"
    assert entries.take(put, CODEX) == 'model = "x"\r\n'


def test_what_a_person_added_stays_theirs() -> None:
    for file, theirs in (
        (CLAUDE, '{"mcpServers": {"ghp": {"command": "ghp", "args": ["agent-mcp"]}}}'),
        (CODEX, '[mcp_servers.ghp]\ncommand = "ghp"\nargs = ["agent-mcp"]\n'),
    ):
        assert entries.put(theirs, file, "/py") == theirs
        assert entries.python_in(theirs, file) is None
        assert entries.take(theirs, file) == theirs


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        (CLAUDE, '{"mcpServers": {"ghp": {"command": "x"}}}', "another tool server is called ghp"),
        (CODEX, '[mcp_servers.ghp]\nurl = "x"\n', "another tool server is called ghp"),
        (CLAUDE, "[]", "it does not contain an object"),
        (CLAUDE, '{"mcpServers": 1}', "`mcpServers` is not an object"),
        (CODEX, "mcp_servers = 1", "`mcp_servers` is not a table"),
        (CODEX, "= 1", "it cannot be read as TOML: Invalid statement (at line 1, column 1)"),
        (
            CODEX,
            "mcp_servers = {}",
            "`mcp_servers` is an inline table, which takes no more servers",
        ),
    ],
)
def test_what_cannot_take_the_server_is_refused(file: ServerFile, text: str, why: str) -> None:
    with pytest.raises(GhpError) as refused:
        entries.put(text, file, "/py")
    assert str(refused.value) == why
    assert refused.value.hint
