"""Files that configure tools are known by their names."""

from ghp_agents.handoffs.tool_files import configures_tools

CONFIG = (
    ".claude/settings.local.json", ".mcp.json", ".envrc", ".husky/_/husky.sh", ".ghp/config.json",
    ".gitmodules", ".github/workflows/ci.yml", ".codex/config.toml", ".cursor/mcp.json",
    ".gemini/settings.json", ".qwen/settings.json", ".pi/extensions/x.ts", "QWEN.md",
    ".opencode/plugin/x.js", ".vscode/tasks.json",
    ".devcontainer/devcontainer.json", ".gitattributes", ".githooks/pre-push",
    ".pre-commit-config.yaml", "sub/.Claude/settings.json", "CLAUDE.md", "AGENTS.md",
)  # fmt: skip


def test_files_that_configure_tools_are_known_in_any_folder_and_case() -> None:
    assert [path for path in CONFIG if not configures_tools(path)] == []
    for path in ("src/a.py", "docs/claude.md.txt", "github/a", "env", ".env.example", "Makefile"):
        assert not configures_tools(path)
