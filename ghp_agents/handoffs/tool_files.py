"""Files that configure tools: a program runs or obeys them without asking. Pure."""

import unicodedata

# A file counts if it or one of its folders has such a name, at any depth and in any case. Listed:
# what an agent's client, an editor, git, the shell or the package manager reads by itself when
# somebody works in the folder; and what a build server runs with its own permissions. Makefiles,
# scripts and tests do not count: they run only when somebody runs them.
RUNNING = frozenset(
    (
        # agents' clients: settings, hooks, servers
        *(".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".continue"),
        *(".roo", ".kiro", ".amazonq", ".junie", ".agents", ".mcp.json", "opencode.json"),
        *(".copilot", ".pi", ".qwen", ".kilocode", ".trae", ".factory", ".augment", ".openhands"),
        *("opencode.jsonc", ".aider.conf.yml", ".crush.json", "crush.json", ".goose"),
        # ours
        ".ghp",
        # editors and containers
        *(".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json"),
        # git and its hooks
        *(".git", ".gitmodules", ".gitattributes", ".gitconfig", ".lfsconfig"),
        *(".husky", ".huskyrc", ".githooks", ".git-hooks", ".lintstagedrc", ".overcommit.yml"),
        *(".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml"),
        *("lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook"),
        *(".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json", ".lefthook-local"),
        *("lefthook-local.yml", "lefthook-local.yaml", ".lefthook-local.yml"),
        # shells, versions of tools, package managers
        *(".envrc", "mise.toml", ".mise.toml", "mise.local.toml", ".mise", ".tool-versions"),
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn", ".pnpmfile.cjs", ".pnpmfile.mjs", ".cargo"),
        *("bunfig.toml", ".bundle"),
        # build servers
        *(".circleci", ".buildkite", ".gitlab", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml"),
        *("jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", ".azure-pipelines"),
        *(".drone.yml", ".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".gitea", ".forgejo"),
        *("bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".semaphore"),
        *(".teamcity", ".tekton", "cloudbuild.yaml", "cloudbuild.yml"),
        *("buildspec.yml", "buildspec.yaml", ".sourcehut", ".build.yml", ".builds"),
        # GitHub: all that it, its runners and its agents read
        ".github",
    )
)
# Instructions for agents: plain text, which a client gives to its model as the repository's own.
INSTRUCTIONS = frozenset(
    (
        *(".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", "qwen.md"),
        *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md"),
    )
)
TOOL_FILES = RUNNING | INSTRUCTIONS
STARTS = ("jenkinsfile.",)  # of further names: `Jenkinsfile.release`


def configures_tools(path: str) -> bool:
    """Return whether the file at this path configures a tool."""
    return any(name in TOOL_FILES or name.startswith(STARTS) for name in _names(path))


def makes_run(path: str) -> bool:
    """Return whether the file at this path decides what a program runs; instructions do not."""
    return any(name in RUNNING or name.startswith(STARTS) for name in _names(path))


def _names(path: str) -> list[str]:
    """The parts of a path as a lenient file system reads them: macOS leaves out characters that
    show nothing, Windows dots and spaces at the end and what follows a colon."""
    if path.isascii():
        shown = path.lower()
    else:
        folded = unicodedata.normalize("NFKC", path).casefold()
        shown = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return [part.partition(":")[0].rstrip(". ") for part in shown.split("/")]
