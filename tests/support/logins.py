"""A login that a person has stored for `gh` and for git, and a program `gh` that reads it."""

from pathlib import Path

from tests.support.git import git

SECRET = "gho_0123456789abcdefghij0123456789abcdef"
# As `gh` does: its login is in a folder, and it answers git with it.
GH = """#!/bin/sh
file="${GH_CONFIG_DIR:-$HOME/.config/gh}/hosts.yml"
[ -r "$file" ] || { echo "not logged in" >&2; exit 1; }
case "$*" in
"auth token"*) cat "$file" ;;
"auth git-credential get") echo "username=ann"; echo "password=$(cat "$file")" ;;
esac
"""


def store(repo: Path, home: Path, programs: Path) -> str:
    """Log in as `gh auth login` and `gh auth setup-git` do; returns a PATH with `gh`."""
    hosts = home / ".config/gh/hosts.yml"
    hosts.parent.mkdir(parents=True)
    hosts.write_text(f"{SECRET}\n")
    (home / ".git-credentials").write_text(f"https://ann:{SECRET}@example.org\n")
    for key, value in (
        ("credential.helper", "store"),
        ("credential.https://github.com.helper", "!gh auth git-credential"),
    ):
        git(repo, "config", "--global", key, value)
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    return f"{programs}:/usr/bin:/bin"


# What an agent would try, without looking for the files.
TRIES = """
gh auth token
for host in github.com example.org; do
    printf 'protocol=https\\nhost=%s\\n\\n' $host | git credential fill
done
"""
