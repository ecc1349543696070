"""Files that configure tools: a program runs or obeys them without asking."""

# A file counts if it or one of its folders has such a name, at any depth and in any case. Listed:
# what an agent's client, an editor, git, the shell or the package manager reads by itself when
# somebody works in the folder; and what a build server runs with its own permissions. Instructions
# for agents count too: a client gives them to its model as the repository's own words. Makefiles,
# scripts and tests do not count: they run only when somebody runs them.
TOOL_FILES = frozenset(
    (
        # agents' clients: settings, hooks, servers, instructions
        *(".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".continue"),
        *(".roo", ".kiro", ".amazonq", ".junie", ".agents", ".mcp.json", "opencode.json"),
        *(".copilot", ".pi", ".qwen", "qwen.md"),
        *("opencode.jsonc", ".aider.conf.yml", ".cursorrules", ".windsurfrules", ".clinerules"),
        *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md"),
        # ours
        ".ghp",
        # editors and containers
        *(".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json"),
        # git and its hooks
        *(".gitmodules", ".gitattributes", ".gitconfig", ".husky", ".githooks"),
        *(".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml"),
        # shells, versions of tools, package managers
        *(".envrc", "mise.toml", ".mise.toml", ".tool-versions"),
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo"),
        # build servers
        *(".circleci", ".buildkite", ".gitlab-ci.yml", ".travis.yml", "jenkinsfile"),
        "azure-pipelines.yml",
        # GitHub: all that it, its runners and its agents read
        ".github",
    )
)


def configures_tools(path: str) -> bool:
    """Return whether the file at this path configures a tool."""
    return not TOOL_FILES.isdisjoint(path.lower().split("/"))
