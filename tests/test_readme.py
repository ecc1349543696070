"""The README's path from an issue to main, typed as it stands there in a new repository, works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import hosts
from tests.support.git import git
from tests.support.house import CHECKOUT

LINES = 200  # of the README, at most

# What an agent does by itself, in the place of a client that `agent-start --run` starts.
CLAUDE = """
test -n "$1"  # the prompt
if test -e parser; then
  echo half > manual; exec sleep 60
fi
ghp agent-heartbeat --status implementing --action "Reading the grammar"
ghp agent-escalate "Is a tab one column or eight?" --option one --option eight --wait > parser
git add parser; git commit -qm "Parse the input"
ghp agent-finish
"""
CODEX = """
ghp agent-resume --apply > /dev/null
echo whole >> manual; git add manual; git commit -qm "Write the manual"
ghp agent-finish
"""

# What a reader does besides typing a line, or instead.
DOES = {
    "ghp agent-start 1 --as worker-1 --run claude": "{line} &",
    "ghp agent-status": """
until ghp agent-escalations --open | grep -q '^E-'; do sleep 0.2; done
{line}
""",
    "ghp agent-answer E-3f9a eight": """
id=$(ghp agent-escalations --open | grep -o '^E-[0-9a-f]*')
ghp agent-answer "$id" eight
wait
""",
    "ghp agent-trust": "{line} --yes",
    "ghp agent-start --next --as worker-1 --run claude": """
{line} &
until test -e "$(ghp agent-where 2 2> /dev/null)/manual"; do sleep 0.2; done
""",
    "ghp agent-stop worker-1 --now": "{line}; wait || true",
    "ghpa status --watch": "ghpa status",
}


def typed() -> list[str]:
    """The lines of two sections, without their remarks."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    sections = text.split("## From an issue to main")[1].split("\n## Guards")[0]
    blocks = re.findall(r"```sh\n(.*?)```", sections, re.DOTALL)
    return [re.sub(r"\s+#\s.*", "", line) for line in "".join(blocks).splitlines()]


def test_it_is_short() -> None:
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()) < LINES


def test_every_line_that_a_reader_replaces_is_still_there() -> None:
    assert set(DOES) <= set(typed())


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_the_path_from_an_issue_to_main_works_as_typed(tmp_path: Path, shared: bool) -> None:
    remote, repo, programs = (tmp_path / name for name in ("r.git", "your-repository", "bin"))
    git(tmp_path, "init", "-q", "-b", "main", str(repo))
    (repo / "Makefile").write_text("test:\n\ttest -s parser\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Start")
    if shared:
        git(tmp_path, "clone", "-q", "--bare", str(repo), str(remote))
        git(repo, "remote", "add", "origin", str(remote))
        git(repo, "push", "-qu", "origin", "main")
    for name, prefix in (("ghp", ""), ("ghpa", "agent-")):
        command = f'"{sys.executable}" -P -m ghp_agents "{prefix}$word" "$@"'
        hosts.executable(programs / name, f"word=$1; shift; exec {command}")
    hosts.executable(programs / "claude", CLAUDE)
    hosts.executable(programs / "codex", CODEX)
    lines = [DOES.get(line, "{line}").replace("{line}", line) for line in typed()]
    if not shared:
        lines = [line.removesuffix(" && git push") for line in lines]
    env = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(CHECKOUT),
        "GHP_BACKGROUND": "0",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-xc", "\n".join(["set -eu", *lines])], cwd=tmp_path, env=env, text=True,
        capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(remote if shared else repo, "show", "main:parser") == "eight"
    assert (repo / "night.html").is_file()
    assert git(remote if shared else repo, "show", "main:manual") == "half\nwhole"
