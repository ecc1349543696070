"""How each client works on one prompt without a person: a table of command lines.

A word may contain `{prompt}`, `{prompt_file}`, `{session}`, `{turns}`, `{cost}` or `{model}`. The
words are arguments of a process. No shell reads them.
"""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError

ARGS = "{args}"  # the user's own options
RIGHTS = "{rights}"  # options for what it may do
PROMPT_LIMIT = 30_000  # characters: Linux takes 128 kB in one argument
_FIELD = re.compile(r"\{(prompt|prompt_file|session|turns|cost|model)\}")
# The secrets that clients need to reach their models; a client of several vendors needs all keys.
CLAUDE_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
CODEX_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")
GEMINI_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
CURSOR_KEYS = ("CURSOR_API_KEY",)
VENDOR_KEYS = (
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", *GEMINI_KEYS, "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY",
    "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY",
)  # fmt: skip
MODEL_KEYS = tuple(dict.fromkeys((*CLAUDE_KEYS, *CODEX_KEYS, *CURSOR_KEYS, *VENDOR_KEYS)))


class Runner(NamedTuple):
    """A client's command line."""

    name: str
    words: tuple[str, ...]
    resume: tuple[str, ...] = ()  # the words with a session; empty: it cannot resume one
    turns: tuple[str, ...] = ()  # options for limits; empty: the supervisor alone counts
    cost: tuple[str, ...] = ()
    model: tuple[str, ...] = ("--model", "{model}")
    rights: tuple[str, ...] = ()  # what it may do, if no card says it
    keeps: tuple[str, ...] = MODEL_KEYS  # variables with secrets that it gets

    needs: str = ""  # the program that must be on PATH; empty: the first word

    @property
    def program(self) -> str:
        """The program that must be on PATH."""
        return self.needs or self.words[0]

    def command(
        self,
        fields: Mapping[str, str],
        args: Sequence[str] = (),
        *,
        resumes: bool = False,
        rights: Sequence[str] | None = None,
    ) -> list[str]:
        """The command line for these fields; `rights` are the options of a card."""
        limits = [
            word
            for name, words in (
                ("turns", self.turns),
                ("cost", self.cost),
                ("model", self.model),
            )
            if fields.get(name)
            for word in words
        ]
        words: list[str] = []
        for word in self.resume if resumes else self.words:
            if word == RIGHTS:
                words += self.rights if rights is None else rights
            else:
                words += [*limits, *args] if word == ARGS else [word]
        return [_FIELD.sub(lambda match: fields.get(match[1], ""), word) for word in words]


_CLAUDE = (
    "claude", "-p", "{prompt}", "--output-format", "stream-json", "--verbose",
    RIGHTS,
)  # fmt: skip
_CODEX = ("codex", "exec", "--json", RIGHTS, ARGS)
_GEMINI = ("gemini", "--output-format", "stream-json", RIGHTS, ARGS)
_OPENCODE = ("opencode", "run", "--format", "json", ARGS)
_CURSOR = ("cursor-agent", "-p", "--output-format", "stream-json", "--force", ARGS)
_CLAUDE_BG = (
    sys.executable, "-P", "-m", "ghp_agents.runs.claude_bg", "--prompt-file", "{prompt_file}",
)  # fmt: skip
# aider runs no command that its model names, so its work is finished for it.
_AIDER = f'aider "$@" && exec {shlex.quote(sys.executable)} -P -m ghp_agents agent-finish'
# What a client keeps in the worktree and is no work: a pattern for `info/exclude`.
TRACES = {"aider": ".aider*"}
OPENAI = "openai"
_OPENAI = (
    sys.executable, "-P", "-m", "ghp_agents.runs.model.main", "--prompt-file", "{prompt_file}",
)  # fmt: skip

RUNNERS: Mapping[str, Runner] = {
    runner.name: runner
    for runner in (
        Runner(
            "claude", (*_CLAUDE, ARGS), (*_CLAUDE, "--resume", "{session}", ARGS),
            ("--max-turns", "{turns}"), ("--max-budget-usd", "{cost}"),
            rights=("--permission-mode", "acceptEdits", "--allowedTools=Bash(git:*),Bash(ghp:*)"),
            keeps=CLAUDE_KEYS,
        ),
        Runner("claude-bg", (*_CLAUDE_BG, ARGS), keeps=CLAUDE_KEYS, needs="claude"),
        Runner(
            "codex", (*_CODEX, "{prompt}"), (*_CODEX, "resume", "{session}", "{prompt}"),
            rights=("-c", "sandbox_mode=workspace-write"), keeps=CODEX_KEYS,
        ),
        Runner(
            "gemini", (*_GEMINI, "--prompt", "{prompt}"),
            (*_GEMINI, "--resume", "{session}", "--prompt", "{prompt}"),
            rights=("--approval-mode", "auto_edit"), keeps=GEMINI_KEYS,
        ),
        Runner(
            "opencode", (*_OPENCODE, "{prompt}"),
            (*_OPENCODE, "--session", "{session}", "{prompt}"), keeps=VENDOR_KEYS,
        ),
        Runner(
            "cursor", (*_CURSOR, "{prompt}"), (*_CURSOR, "--resume", "{session}", "{prompt}"),
            keeps=CURSOR_KEYS,
        ),
        Runner(
            "aider",
            ("/bin/sh", "-c", _AIDER, "aider", "--yes-always", "--no-gitignore", "--no-pretty",
             "--no-check-update", ARGS, "--message-file", "{prompt_file}"),
            keeps=VENDOR_KEYS, needs="aider",
        ),
        Runner(
            OPENAI, (*_OPENAI, ARGS), (*_OPENAI, "--resume", "{session}", ARGS),
            ("--turns", "{turns}"), keeps=(),
        ),
    )
}  # fmt: skip


def find(text: str) -> Runner:
    """A runner of the table, or the one of a command line such as `my-agent {prompt_file}`. Raises
    UsageError."""
    if text in RUNNERS:
        return RUNNERS[text]
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        words, why = (), f" ({error})"
    else:
        why = ""
    if len(words) < 2 or not any("{prompt" in word for word in words):
        raise UsageError(
            f"{text[:60]!r} is neither a runner nor a command with {{prompt_file}}{why}.",
            hint=f"Runners: {', '.join(RUNNERS)}. A command of your own: "
            "--runner 'my-agent --task {prompt_file}'.",
        )
    return Runner(words[0].rpartition("/")[2], (*words, ARGS), model=())
