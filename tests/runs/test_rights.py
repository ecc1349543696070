"""A manifest in each client's own rules, as a whole."""

import json
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghp_agents.cards import manifest
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.command_rules import GHP, GIT
from ghp_agents.cards.manifest import Permission
from ghp_agents.core.errors import RefusedError
from ghp_agents.handoffs.tool_files import RUNNING
from ghp_agents.runs import rights

SOME = AgentCard(
    "night", ".ghp/agents/night.md", github=True,
    permissions=(
        Permission("read_file"), Permission("write_file", ("docs/**/*.md", "src/")),
        Permission("bash", ("npm install", "make")), Permission("network", ("docs.example",)),
        Permission("mcp__github__get"),
    ),
)  # fmt: skip
ALL = SOME._replace(
    permissions=tuple(Permission(tool) for tool in ("write_file", "bash", "network"))
)
NOTHING = SOME._replace(permissions=(), github=False)
PY = sys.executable
OWN = f"Bash(ghp:*),Bash(ghp-agents:*),Bash({PY} -P -m ghp_agents:*)"
GITS = ",".join(f"Bash(git {verb}:*)" for verb in GIT)
HOOK = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "*",
                "hooks": [
                    {
                        "type": "command", "command": PY,
                        "args": ["-P", "-m", "ghp_agents", "hook", "claude"], "timeout": 10,
                    }
                ],
            }
        ]
    }
}  # fmt: skip


def claude(card: AgentCard) -> tuple[str, ...]:
    rendered = rights.render(card, "claude", "/run")
    assert json.loads(rendered.args[-1].removeprefix("--settings=")) == HOOK
    return rendered.args[:-1]


def test_claude_gets_lists_of_tools_and_our_hook_for_each() -> None:
    assert claude(SOME) == (
        "--permission-mode", "dontAsk",
        "--allowedTools=Read,Glob,Grep,Edit(docs/**/*.md),Edit(src/),"
        f"{OWN},{GITS},Bash(npm install:*),Bash(make:*),WebFetch(domain:docs.example),"
        "mcp__github__get",
        "--disallowedTools=WebSearch",
    )  # fmt: skip
    assert claude(ALL) == (
        "--permission-mode", "dontAsk",
        "--allowedTools=Read,Glob,Grep,Edit,Write,NotebookEdit,Bash,WebFetch,WebSearch",
    )  # fmt: skip
    assert claude(NOTHING) == (
        "--permission-mode", "dontAsk",
        f"--allowedTools=Read,Glob,Grep,{OWN},{GITS}",
        "--disallowedTools=Edit,Write,NotebookEdit,WebFetch,WebSearch",
    )  # fmt: skip


def test_codex_gets_its_sandbox() -> None:
    def options(card: AgentCard) -> list[str]:
        args = rights.render(card, "codex", "/run").args
        assert list(args[-4:]) == rights.codex_hook()
        return [word for word in args[:-4] if word != "-c"]

    closed = ["sandbox_workspace_write.network_access=false", "web_search=disabled"]
    assert options(SOME) == ["sandbox_mode=workspace-write", "approval_policy=never", *closed]
    assert options(NOTHING) == ["sandbox_mode=read-only", "approval_policy=never", *closed]
    assert options(ALL) == [
        "sandbox_mode=workspace-write", "approval_policy=never",
        "sandbox_workspace_write.network_access=true", "web_search=live",
    ]  # fmt: skip


def rule(tool: str, priority: int, prefix: str = "") -> str:
    command = f'commandPrefix = "{prefix}"\n' if prefix else ""
    decision = "allow" if priority == 200 else "deny"
    head = f'[[rule]]\ntoolName = "{tool}"\n{command}'
    return f'{head}decision = "{decision}"\npriority = {priority}\n'


def test_gemini_gets_a_policy() -> None:
    rendered = rights.render(SOME, "gemini", "/run")
    assert rendered.args == ("--approval-mode", "default", "--policy", "/run/policy.toml")
    free = ["read_file", "glob", "grep_search", "list_directory", "write_todos"]
    shell = [*(f"git {x}" for x in GIT), *(f"ghp {x}" for x in GHP), "npm install", "make"]
    assert rendered.files["policy.toml"] == "\n".join(
        [
            rule("*", 100),
            *(rule(tool, 200) for tool in [*free, "replace", "write_file", "mcp__github__get"]),
            *(rule("run_shell_command", 200, command) for command in shell),
        ]
    )
    everything = rights.render(ALL, "gemini", "/run").files["policy.toml"]
    assert everything.endswith(
        rule("google_web_search", 200) + "\n" + rule("run_shell_command", 200)
    )


def test_opencode_gets_its_permissions() -> None:
    shell = [*(f"git {x}" for x in GIT), *(f"ghp {x}" for x in GHP), "npm install", "make"]
    rendered = rights.render(SOME, "opencode", "/run")
    assert json.loads(rendered.env["OPENCODE_PERMISSION"]) == {
        "edit": {"*": "deny", "docs/*.md": "allow", "src/*": "allow"},
        "bash": {"*": "deny"}
        | dict.fromkeys((word for x in shell for word in (x, f"{x} *")), "allow"),
        "webfetch": "deny", "websearch": "deny", "external_directory": "deny",
    }  # fmt: skip
    assert json.loads(rights.render(ALL, "opencode", "/run").env["OPENCODE_PERMISSION"]) == {
        "edit": "allow", "bash": "allow", "webfetch": "allow", "websearch": "allow",
        "external_directory": "deny",
    }  # fmt: skip


def test_opencode_reads_what_the_card_names_and_asks_our_plugin() -> None:
    card = SOME._replace(permissions=(Permission("read_file", ("docs/",)),))
    rendered = rights.render(card, "opencode", "/a b")
    rules = json.loads(rendered.env["OPENCODE_PERMISSION"])
    assert rules["read"] == {"*": "deny", "docs/*": "allow"}
    assert [rules[tool] for tool in ("glob", "grep", "list")] == ["deny"] * 3
    plugin = json.loads(rendered.env["OPENCODE_CONFIG_CONTENT"])
    assert plugin == {"plugin": ["file:///a%20b/rights.js"]}
    assert (
        json.dumps([PY, "-P", "-m", "ghp_agents", "hook", "opencode"])
        in rendered.files["rights.js"]
    )


def test_codex_trusts_our_hook_by_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash is that of Codex 0.169 for `/bin/true x`, by `hooks/list` of its app server."""
    monkeypatch.setattr(rights, "hook_command", lambda *_: ["/bin/true", "x"])
    assert rights.codex_hook() == [
        "-c",
        'hooks.PreToolUse=[{matcher="",hooks=[{type="command",command="/bin/true x",timeout=10}]}]',
        "-c",
        'hooks.state={"/<session-flags>/config.toml:pre_tool_use:0:0"={trusted_hash='
        '"sha256:9144d2fce635e1e8477ab434a38565361ececba8392b380eab2a944d4e315d63"}}',
    ]


def test_our_own_client_has_our_hooks_only() -> None:
    assert rights.render(SOME, "openai", "/run") == rights.ClientRules()


def test_a_client_that_nothing_holds_is_not_started() -> None:
    rights.check(SOME, "claude")
    rights.check(AgentCard("night"), "aider")
    with pytest.raises(RefusedError) as refused:
        rights.check(SOME, "aider")
    assert str(refused.value) == (
        "aider cannot enforce the permissions of night (.ghp/agents/night.md on main)."
    )


def test_only_a_card_gives_the_token_for_github() -> None:
    assert rights.kept(SOME) == ("GH_TOKEN", "GITHUB_TOKEN")
    assert rights.kept(NOTHING) == ()


def test_the_hooks_read_what_is_allowed() -> None:
    rendered = rights.document(SOME._replace(autonomous="true"), "/top")
    assert {key: rendered[key] for key in rendered if key not in ("own", "write")} == {
        "version": 2, "top": "/top", "card": ".ghp/agents/night.md", "autonomous": "true",
        "read": [], "run": ("npm install", "make"), "network": ("docs.example",),
        "tools": ["mcp__github__get"], "guarded": sorted(RUNNING),
    }  # fmt: skip
    named = SOME._replace(permissions=(Permission("write_file", (".claude/skills/",)),))
    assert ".claude" not in rights.document(named, "/top")["guarded"]
    empty = rights.document(NOTHING, "/top")
    assert [empty[x] for x in ("write", "run", "network", "tools")] == [None, None, None, []]


def split_as_claude(text: str) -> Iterator[str]:
    """The rules in a list of Claude Code, read so that no reading finds more: a bracket always
    ends a rule, and so does a comma or a blank outside of brackets."""
    rule, inside = "", False
    for char in text:
        inside = char == "(" or (inside and char != ")")
        if char in ", " and not inside:
            yield rule
            rule = ""
        else:
            rule += char
            if char == ")":
                yield rule
                rule = ""
    yield rule


SCOPES = st.text(
    st.sampled_from("ab/*.-_?[]{}()<>,;:=\"'\\$%&|`!#~^@+ \t\n\u00a0\u2028é🦊"),
    min_size=1,
    max_size=12,
)
TOOLS = ("read_file", "write_file", "bash", "network")
HEADS = {"read_file": "Read(", "write_file": "Edit(", "bash": "Bash(", "network": "WebFetch("}


@given(tool=st.sampled_from(TOOLS), scope=SCOPES)
@example(tool="write_file", scope="docs/x),Bash(*")
@example(tool="read_file", scope="a) Bash(*")
@example(tool="write_file", scope=" /etc/x")
@example(tool="write_file", scope="{file:a}")
@example(tool="write_file", scope="$HOME/a")
@example(tool="bash", scope='a"\ndecision = "allow"')
def test_no_scope_makes_another_rule(tool: str, scope: str) -> None:
    with suppress(ValueError):  # refused, so no rule is made of it
        rights_of_card = manifest.parse([{"tool": tool, "scope": scope}])
        (item,) = rights_of_card[0].scope
        card = SOME._replace(permissions=rights_of_card)
        _check_claude(card, tool, item)
        _check_opencode(card, tool, item)
        policy = rights.render(card, "gemini", "/run").files["policy.toml"]
        others = rights.render(NOTHING, "gemini", "/run").files["policy.toml"]
        assert _prefixes(policy) - _prefixes(others) <= {item, None}


def _prefixes(policy: str) -> set[str | None]:
    rules = tomllib.loads(policy)["rule"]
    assert all(set(rule) <= {"toolName", "commandPrefix", "decision", "priority"} for rule in rules)
    return {rule.get("commandPrefix") for rule in rules}


def _check_claude(card: AgentCard, tool: str, item: str) -> None:
    """The list has one rule more than that of an empty card, with the scope as it is written."""
    (allowed,) = (x for x in claude(card) if x.startswith("--allowedTools="))
    (plain,) = (x for x in claude(NOTHING) if x.startswith("--allowedTools="))
    head = HEADS[tool]
    wide = {"Bash", "WebFetch", "WebSearch", "Edit", "Write", "NotebookEdit"}
    new = set(split_as_claude(allowed.partition("=")[2])) - set(
        split_as_claude(plain.partition("=")[2])
    )
    texts = {f"{head}{item})", f"{head}{item}:*)", f"{head}domain:{item})"}
    assert new <= (texts if item != "*" or tool in TOOLS[:2] else wide), new


def _check_opencode(card: AgentCard, tool: str, item: str) -> None:
    text = rights.render(card, "opencode", "/run").env["OPENCODE_PERMISSION"]
    assert not {"{env:", "{file:", "$"} & {x for x in ("{env:", "{file:", "$") if x in text}
    rules = json.loads(text)
    plain = json.loads(rights.render(NOTHING, "opencode", "/run").env["OPENCODE_PERMISSION"])
    changed = {name for name in rules if rules[name] != plain.get(name)}
    may = {"read_file": {"read", "glob", "grep", "list"}, "write_file": {"edit"},
           "bash": {"bash"}, "network": {"webfetch", "websearch"}}  # fmt: skip
    assert changed <= may[tool]
