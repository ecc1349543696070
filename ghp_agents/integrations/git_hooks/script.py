"""The guard in git's own hooks: a block in the user's script, and the scripts that it calls.

The block names no path of this machine. It calls what lies in the clone's git folder, if something
does, so it may be committed with a project's hooks and does nothing for those without this program.
"""

import re
import shlex

HOOKS = ("pre-commit", "prepare-commit-msg")
BEGIN = b"# >>> ghp-agents >>> does nothing where `ghp agent-init --hooks git` was not run\n"
END = b"# <<< ghp-agents <<<\n"
MADE = b"# Made by ghp-agents, and taken away with its block.\n"
ASIDE = ".before-ghp-agents"  # what a hook that is no shell script is called meanwhile
SHELLS = (b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh")
_BLOCK = re.compile(re.escape(b"# >>> ghp-agents >>>") + rb".*?" + re.escape(END), re.DOTALL)


def block(name: str) -> bytes:
    """What is put into the hook `name`."""
    return (
        BEGIN
        + f"""\
ghp_hook="$(git rev-parse --git-common-dir)/ghp/hooks/{name}"
if [ -x "$ghp_hook" ]; then "$ghp_hook" "$@" || exit $?; fi
""".encode()
        + END
    )


def new_hook(name: str) -> bytes:
    """A hook where there is none."""
    return b"#!/bin/sh\n" + MADE + block(name)


def chaining_hook(name: str) -> bytes:
    """A hook around one that is no shell script and was moved aside."""
    return (
        new_hook(name)
        + f"""\
aside="$(dirname "$0")/{name}{ASIDE}"
if [ -x "$aside" ]; then exec "$aside" "$@"; fi
""".encode()
    )


def is_shell(content: bytes) -> bool:
    """Whether the block may be put into a hook; git runs one without a first line by `sh`."""
    if b"\0" in content:
        return False
    first, end, _ = content.partition(b"\n")
    if not first.startswith(b"#!"):
        return True
    words = first[2:].split()
    if words and words[0].rpartition(b"/")[2] == b"env":
        words = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    program = words[0].rpartition(b"/")[2] if words else b""
    return bool(end) and program in SHELLS and not first.endswith(b"\r")


def has_block(content: bytes) -> bool:
    """Whether the hook holds a block of ours, of whatever version."""
    return _BLOCK.search(content) is not None


def put(content: bytes, name: str) -> bytes:
    """The shell script with our block in it, behind its first line."""
    if has_block(content):
        return _BLOCK.sub(lambda _: block(name), content, count=1)
    first, end, rest = content.partition(b"\n")
    if first.startswith(b"#!"):
        return first + end + block(name) + rest
    return block(name) + content


def take(content: bytes) -> bytes | None:
    """The script without our block; None where nothing is left that is not ours."""
    rest = _BLOCK.sub(b"", content, count=1)
    header = b"#!/bin/sh\n" + MADE
    if not rest.startswith(header):
        return rest
    behind = rest.removeprefix(header)
    ours = not behind.strip() or (ASIDE.encode() in behind and behind.count(b"\n") == 2)
    return None if ours else b"#!/bin/sh\n" + behind


# ------------------------------------------------------------------------------ what they call


def script(name: str, python: str) -> bytes:
    """What the block of the hook `name` calls in this clone."""
    body = {"pre-commit": _PRE_COMMIT, "prepare-commit-msg": _PREPARE}[name]
    return _HEAD.format(name=name, python=shlex.quote(python)).encode() + body.encode()


def python_of(content: bytes) -> str | None:
    """The interpreter that a script of ours calls."""
    found = re.search(rb"^python=(.*)$", content, re.MULTILINE)
    try:
        words = shlex.split(found[1].decode("utf-8", "surrogateescape")) if found else []
    except ValueError:
        return None
    return words[0] if words else None


_HEAD = """\
#!/bin/sh
# ghp-agents: called by the block in the hook {name}. `ghp agent-init --hooks git` writes this file,
# `--hooks git --remove` takes it away.
python={python}
if ! [ -x "$python" ]; then
  echo "Warning: ghp-agents: $python is gone, so this commit is not checked." >&2
  echo "Hint: Run \\`ghp agent-init --hooks git\\` again, or with --remove." >&2
  exit 0
fi
"""

# Only a decision stops a commit. `agent-check` says it, why, and what next; its last line alone,
# the count of what was checked, is nothing to say at every commit.
_PRE_COMMIT = """\
said=$("$python" -P -m ghp_agents agent-check --staged 2>&1)
code=$?
case $code in
  0) [ "$(printf '%s\\n' "$said" | wc -l)" -lt 2 ] || printf '%s\\n' "$said" >&2 ;;
  *) [ -z "$said" ] || printf '%s\\n' "$said" >&2 ;;
esac
case $code in
  0) ;;
  3) exit 1 ;;
  *) echo "Warning: ghp-agents: this commit was not checked (exit code $code); it goes on." >&2 ;;
esac
exit 0
"""

# Merges and squashes have a message that git made of others' commits, and what is picked or rebased
# may be somebody else's work. A message that is still empty stays so: with a trailer in it, git
# would no longer take closing the editor as "do not commit".
_PREPARE = """\
case "$2" in merge|squash) exit 0 ;; esac
folder=$(git rev-parse --git-dir) || exit 0
for sign in rebase-merge rebase-apply CHERRY_PICK_HEAD REVERT_HEAD MERGE_HEAD; do
  if [ -e "$folder/$sign" ]; then exit 0; fi
done
[ -n "$(sed '/^. -* >8 -*$/,$d' "$1" | git stripspace --strip-comments)" ] || exit 0
name=$("$python" -P -m ghp_agents agent-whoami 2>/dev/null) || exit 0
[ -n "$name" ] || exit 0
git interpret-trailers --in-place --if-exists addIfDifferent --trailer "Agent: $name" "$1" ||
  echo "Warning: ghp-agents: the trailer \\`Agent: $name\\` was not added." >&2
exit 0
"""
