"""Our block in git's hooks, and the scripts that it calls.

The block names no path of this machine. It calls a script in the clone's git folder, if that
exists. So it may be committed with a project's hooks, and does nothing without this program.
"""

import re
import shlex

from ghp_agents.hotpath.locate import GUARDED

HOOKS = GUARDED
FED = ("pre-push", "reference-transaction")  # git writes to their standard input
BEGIN = b"# >>> ghp-agents >>> does nothing where `ghp agent-init --hooks git` was not run\n"
END = b"# <<< ghp-agents <<<\n"
MADE = b"# Made by ghp-agents, and taken away with its block.\n"
ASIDE = ".before-ghp-agents"  # suffix of a moved hook that is not a shell script
SHELLS = (b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh")
_BLOCK = re.compile(re.escape(b"# >>> ghp-agents >>>") + rb".*?" + re.escape(END), re.DOTALL)


def block(name: str) -> bytes:
    """Our block for the hook `name`."""
    return (
        BEGIN
        + f"""\
ghp_hook="$(git rev-parse --git-common-dir)/ghp/hooks/{name}"
{_CALL_FED if name in FED else _CALL}""".encode()
        + END
    )


_CALL = 'if [ -x "$ghp_hook" ]; then "$ghp_hook" "$@" || exit $?; fi\n'

# What git wrote is read for our script, and then given to the rest of the hook.
_CALL_FED = """\
if [ -x "$ghp_hook" ]; then
  ghp_input=$(cat)
  printf '%s\\n' "$ghp_input" | "$ghp_hook" "$@" || exit $?
  if [ -z "$ghp_input" ]; then exec </dev/null; else exec <<GHP_INPUT
$ghp_input
GHP_INPUT
  fi
fi
"""


def new_hook(name: str) -> bytes:
    """A new hook."""
    return b"#!/bin/sh\n" + MADE + block(name)


def chaining_hook(name: str) -> bytes:
    """A hook that calls the moved hook, which is not a shell script."""
    return (
        new_hook(name)
        + f"""\
aside="$(dirname "$0")/{name}{ASIDE}"
if [ -x "$aside" ]; then exec "$aside" "$@"; fi
""".encode()
    )


def is_shell(content: bytes) -> bool:
    """Whether the hook is a shell script; git runs one without a `#!` line with `sh`."""
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
    """Whether the hook holds our block, of any version."""
    return _BLOCK.search(content) is not None


def put(content: bytes, name: str) -> bytes:
    """Insert our block after the `#!` line, or replace the present one."""
    if has_block(content):
        return _BLOCK.sub(lambda _: block(name), content, count=1)
    first, end, rest = content.partition(b"\n")
    if first.startswith(b"#!"):
        return first + end + block(name) + rest
    return block(name) + content


def remove_block(content: bytes) -> bytes | None:
    """Remove our block; None if nothing of the user's is left."""
    rest = _BLOCK.sub(b"", content, count=1)
    header = b"#!/bin/sh\n" + MADE
    if not rest.startswith(header):
        return rest
    behind = rest.removeprefix(header)
    ours = not behind.strip() or (ASIDE.encode() in behind and behind.count(b"\n") == 2)
    return None if ours else b"#!/bin/sh\n" + behind


def script(name: str, python: str, main: str = "main") -> bytes:
    """The script that the block of the hook `name` calls; `main` is the default branch."""
    head = _HEAD.format(name=name, python=shlex.quote(python))
    if name in FED:
        head += _QUIET_END + f"main={shlex.quote(f'refs/heads/{main}')}\n"
    else:
        head += (_TRIAL if name == "pre-commit" else "") + _WARNING
    return (head + _BODIES[name]).encode("utf-8", "surrogateescape")


def python_of(content: bytes) -> str | None:
    """The interpreter that our script calls."""
    match = re.search(rb"^python=(.*)$", content, re.MULTILINE)
    try:
        words = shlex.split(match[1].decode("utf-8", "surrogateescape")) if match else []
    except ValueError:
        return None
    return words[0] if words else None


_HEAD = """\
#!/bin/sh
# ghp-agents: called by the block in the hook {name}. `ghp agent-init --hooks git` writes this file,
# `--hooks git --remove` takes it away.
python={python}
"""
_QUIET_END = '[ -x "$python" ] || exit 0\n'  # the hook pre-commit warns
# Whether git reaches us; no hook of the project runs then (`git_hooks/trial.py`). It only refuses:
# the variable opens nothing to an agent that sets it.
_TRIAL = """\
if [ -n "${GHP_TRIAL-}" ]; then
  "$python" -P -c "import ghp_agents" && echo "$GHP_TRIAL"
  echo "Error: GHP_TRIAL is set, so nothing was committed. Hint: unset GHP_TRIAL" >&2
  exit 1
fi
"""
_WARNING = """\
if ! [ -x "$python" ]; then
  echo "Warning: ghp-agents: $python is gone, so this commit is not checked." >&2
  echo "Hint: Run \\`ghp agent-init --hooks git\\` again, or with --remove." >&2
  exit 0
fi
"""

# Only a decision stops git. Most calls are about other branches, so Python is not started for them.
_MOVE = """\
check() {
  "$python" -P -m ghp_agents agent-check --main "$1" >&2
  [ $? -ne 3 ] || exit 1
}
"""

# Local ref, local commit, ref of the remote, its commit: git-scm.com/docs/githooks#_pre_push.
_PRE_PUSH = (
    _MOVE
    + """\
while read -r _ commit ref _; do
  if [ "$ref" = "$main" ]; then check "$commit"; fi
done
exit 0
"""
)

# Former commit, new commit, ref; after "prepared" git can still be stopped.
_TRANSACTION = (
    """\
[ "$1" = prepared ] || exit 0
"""
    + _MOVE
    + """\
while read -r _ commit ref; do
  if [ "$ref" = "$main" ]; then check "$commit"; fi
done
exit 0
"""
)

# Only a decision stops a commit; `agent-check` prints it with the reason and a hint. Its last line,
# the number of checked files, is not printed alone.
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

# No trailer for merges and squashes, whose message git made of others' commits, and for picked or
# rebased commits, which may be others' work. None for an empty message: with a trailer in it,
# closing the editor would no longer cancel the commit.
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

_BODIES = {
    "pre-commit": _PRE_COMMIT,
    "prepare-commit-msg": _PREPARE,
    "pre-push": _PRE_PUSH,
    "reference-transaction": _TRANSACTION,
}
