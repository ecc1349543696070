"""The first five minutes of the README, typed as they stand there, do what it says."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.git import git
from tests.support.house import CHECKOUT

# What a reader does at a line besides typing it, or instead.
DOES = {
    "python3 -m venv ~/.venvs/ghp && . ~/.venvs/ghp/bin/activate": "",
    "pip install .": "",
    "cd your-repository": 'cd "$one"',
    "ghp agent-init": """
{line}
mkdir -p .ghp; echo '{"agents": {"checks": ["test -s src/grammar/half"]}}' > .ghp/config.json
git add .ghp/config.json; git commit -qm 'Configure checks'; git push -q origin HEAD
git -C "$other" pull -q; (cd "$other"; ghp agent-trust --yes)
""",
    "cd … && claude": 'cd "$(ghp agent-where 1)"',
    'ghp agent-heartbeat --status implementing --action "Reading the grammar"': """
{line}
mkdir -p src/grammar; echo one > src/grammar/lexer; git add .; git commit -qm 'Begin the lexer'
echo two > src/grammar/half
""",
    'answer=$(ghp agent-escalate "Is a tab one column or eight?" --option one --option eight '
    "--wait)": """
(answer=$(ghp agent-escalate "Is a tab one column or eight?" --option one --option eight --wait)
echo "$answer" > "$one/../answer") &
until ghp agent-escalations --open | grep -q '^E-'; do :; done
""",
    "ghp agent-answer E-3f9a eight": """
cd "$one"; id=$(ghp agent-escalations --open | grep -o '^E-[0-9a-f]*')
ghp agent-answer "$id" eight; cd - > /dev/null
wait
""",
    "ghp agent-sync": 'cd "$other"; {line}',
    "ghp agent-resume --apply": 'cd "$(ghp agent-where 1)"; {line}',
    "ghp agent-finish": "git add .; git commit -qm 'Finish the lexer'; {line}",
}


def typed() -> list[str]:
    """The lines of the section, without their remarks."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    section = text.split("## The first five minutes")[1].split("\n## ")[0].split("\n### ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [re.sub(r"\s+#\s.*", "", line) for line in "".join(blocks).splitlines()]


def test_every_line_that_a_reader_replaces_is_still_there() -> None:
    assert set(DOES) <= set(typed())


@pytest.mark.slow
def test_the_first_five_minutes_work_as_typed(clones: Callable[[int], list[Path]]) -> None:
    one, other = clones(2)
    lines = [DOES.get(line, "{line}").replace("{line}", line) for line in typed()]
    script = "\n".join(["set -eu", 'ghp() { "$python" -P -m ghp_agents "$@"; }', *lines])
    env = {
        **os.environ, "python": sys.executable, "PYTHONPATH": str(CHECKOUT), "one": str(one),
        "other": str(other), "GHP_BACKGROUND": "0",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", script], cwd=one, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (one.parent / "answer").read_text() == "eight\n"
    git(one, "fetch", "--quiet")
    assert git(one, "show", "origin/main:src/grammar/half") == "two"
    assert git(one, "show", "origin/main:src/grammar/lexer") == "one"
