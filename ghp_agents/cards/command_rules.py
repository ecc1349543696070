"""Which shell commands a manifest allows. Pure.

A line is allowed if each of its commands begins with the words of an allowed one. What cannot be
read with certainty is refused: variables, substitutions, groups, redirections. So nothing has to be
known of wrappers such as `env` or `sh -c`: they are commands like others.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST = 20_000  # characters
ANY = "*"  # a rule that allows every line
# What an agent needs to finish its work: git's verbs with the options that they may have. Nothing
# else is implied, neither shortened nor negated: `--no-show-current -D` deletes, `-v` shows files.
# After an option that ends with `=`, the next word or the rest of the word is its value.
_DIFF = (
    "--", "--cached", "--check", "--exit-code", "--merge-base", "--name-only", "--name-status",
    "--no-color", "--no-renames", "--numstat", "--patch", "--quiet", "--shortstat", "--staged",
    "--stat", "--summary", "--word-diff", "-M", "-b", "-p", "-u", "-w",
    "--diff-filter=", "--unified=", "-G=", "-S=", "-U=",
)  # fmt: skip
_LOG = (
    *_DIFF, "--abbrev-commit", "--all", "--decorate", "--first-parent", "--follow", "--graph",
    "--merges", "--no-decorate", "--no-merges", "--no-patch", "--oneline", "--reverse", "-s",
    "--after=", "--author=", "--before=", "--format=", "--grep=", "--max-count=", "--pretty=",
    "--since=", "--skip=", "--until=", "-n=",
)  # fmt: skip
GIT: "dict[str, tuple[str, ...]]" = {
    "add": (
        "--", "--all", "--dry-run", "--force", "--intent-to-add", "--update", "--verbose", "-A",
        "-N", "-f", "-n", "-u", "-v",
    ),
    "commit": (
        "--", "--all", "--allow-empty", "--amend", "--no-edit", "--quiet", "--signoff", "-a", "-q",
        "-s", "--file=", "--message=", "-F=", "-am=", "-m=", "-qam=", "-qm=",
    ),
    "diff": _DIFF,
    "log": _LOG,
    "rev-parse": (
        "--abbrev-ref", "--git-common-dir", "--git-dir", "--is-inside-work-tree", "--quiet",
        "--short", "--show-prefix", "--show-toplevel", "--verify", "-q",
    ),
    "show": _LOG,
    "status": (
        "--", "--branch", "--ignored", "--long", "--porcelain", "--porcelain=v1",
        "--porcelain=v2", "--short", "--untracked-files=all", "--untracked-files=no",
        "--untracked-files=normal", "-b", "-s", "-sb", "-u", "-uall", "-uno", "-unormal", "-z",
    ),
}  # fmt: skip
BRANCH = ["git", "branch", "--show-current"]  # alone
COUNTED = ("diff", "log", "show")  # `-3` is an option of these
GHP = (
    "agent-check", "agent-claim", "agent-conflicts", "agent-escalate", "agent-escalations",
    "agent-explain", "agent-finish", "agent-handoff", "agent-heartbeat", "agent-inbox",
    "agent-issue", "agent-issues", "agent-jobs", "agent-lease", "agent-leases", "agent-log",
    "agent-notes", "agent-pull", "agent-pulls", "agent-recall", "agent-release",
    "agent-remember", "agent-resume", "agent-review", "agent-send", "agent-status",
    "agent-subscribe", "agent-sync", "agent-thread", "agent-topic", "agent-update",
    "agent-vote", "agent-where", "agent-whoami",
)  # fmt: skip
SHOWS = ("diff", "log", "show")  # git's verbs that print what is in files of any name
OWN_SHOWS = ("--commits", "--diff", "--stdout")  # options of ghp that print it
# Of ghp: what runs a program, or writes files of any name.
RUNS = ("--exec", "--allow-config")
WRITERS = {"agent-jobs": ("export", "import")}
_NULL = "/dev/null"
_GLOB = "*?["


class Expanded(str):
    """A word that the shell replaces by names of files."""

    __slots__ = ()


class UnclearError(Exception):
    """The line has something that is not read here."""


def refusal(
    line: str,
    rules: "Sequence[str]",
    own: "Sequence[Sequence[str]]",
    inside: "Callable[[str], bool]",
    names: "Callable[[str, str], bool] | None" = None,
    *,
    shows: bool = True,
) -> str:
    """Why a shell line is not allowed; empty if it is. `own` are the ways to call this program,
    `inside` says whether a folder to change to is in the worktree, `names` whether a word may be
    an argument in a folder, and `shows` whether what is in files of any name may be printed."""
    if ANY in rules:
        return ""
    try:
        parsed = commands(line)
    except UnclearError as error:
        return str(error)
    if sum(words[0] == "cd" for words in parsed) > 1:
        return "it changes the folder more than once"
    folder = next((words[1] for words in parsed if words[0] == "cd" and len(words) == 2), "")
    places = {"", folder}  # another process may be in either
    allowed = [rule.split() for rule in rules]
    for words in parsed:
        if _is_allowed(words, allowed):
            continue
        if not _is_implied(words, own, inside, shows):
            return f"`{' '.join(words[:3])[:60]}` is not among the commands that it may run"
        if any(isinstance(word, Expanded) for word in words):
            return "the shell would replace a pattern with file names; quote it"
        if names and not all(names(at, part) for at in places for part in _parts(words[1:])):
            return "it names a file that it may not read"
    return ""


def _is_allowed(words: "Sequence[str]", rules: "Sequence[Sequence[str]]") -> bool:
    return any(list(words[: len(rule)]) == list(rule) for rule in rules)


def _is_implied(
    words: "Sequence[str]",
    own: "Sequence[Sequence[str]]",
    inside: "Callable[[str], bool]",
    shows: bool,
) -> bool:
    if words[0] == "cd":
        return len(words) == 2 and inside(words[1])
    if words[0] == "git":
        return list(words) == BRANCH or _is_plain_git(words[1:], shows)
    start = next((len(x) for x in own if list(words[: len(x)]) == list(x)), None)
    if start is None or words[start : start + 1] == [] or words[start] not in GHP:
        return False
    barred = (*RUNS, *WRITERS.get(words[start], ()), *(() if shows else OWN_SHOWS))
    return not any(x.partition("=")[0] in barred for x in words[start + 1 :])


def _is_plain_git(words: "Sequence[str]", shows: bool) -> bool:
    """Whether all options are among those of the verb."""
    verb = words[0] if words else ""
    if verb not in GIT or (verb in SHOWS and not shows):
        return False
    options = GIT[verb]
    rest = iter(words[1:])
    for word in rest:
        name, mark, _ = word.partition("=")
        if word == "--":
            return True
        if (
            word[:1] != "-"
            or word in options
            or (mark and name[:2] == "--" and f"{name}=" in options)
        ):
            continue
        if f"{word}=" in options:
            if next(rest, None) is None:
                return False
        elif not (verb in COUNTED and _is_counted(word)):
            return False
    return True


def _is_counted(word: str) -> bool:
    """Whether the word is `-3`, `-n3` or `-U3`."""
    number = word[2:] if word[1:2] in ("n", "U") else word[1:]
    return number.isascii() and number.isdigit()


def _parts(words: "Sequence[str]") -> "list[str]":
    """All that a program may take for the name of a file: words, and the values of options."""
    operands = [word for word in words if word[:1] != "-"]
    for word in words:
        if word[:2] == "--":
            operands += [word.partition("=")[2]]
        elif word[:1] == "-":  # `-F/etc/x`, `-aF/etc/x`
            operands += [word[at:] for at in range(2, min(len(word), 100))]
    # `src/a.py#L1-20` is a part of a file.
    return operands + [word.partition("#")[0] for word in operands if "#" in word]


def commands(line: str) -> "list[list[str]]":
    """The words of each command in a line. Raises UnclearError."""
    if len(line) > LONGEST:
        raise UnclearError(f"the line has more than {LONGEST} characters")
    return _Reader(line).read()


class _Reader:
    """Reads a line like a POSIX shell; refuses everything that shells may read differently."""

    def __init__(self, line: str) -> None:
        self._line, self._at = line, 0
        self._commands: list[list[str]] = [[]]
        self._word: str | None = None
        self._is_quoted = self._is_pattern = False

    def read(self) -> "list[list[str]]":
        while self._at < len(self._line):
            char = self._line[self._at]
            self._at += 1
            if char in " \t":
                self._end_word()
            elif char in ";&|\n":
                self._end_word()
                self._commands.append([])
            elif char == "'":
                self._add(self._until("'"), quoted=True)
            elif char == '"':
                self._double()
            elif char == "\\":
                self._escaped()
            elif char in "<>":
                self._redirect(char)
            else:
                self._plain(char)
        self._end_word()
        return [words for words in self._commands if words]

    def _plain(self, char: str) -> None:
        if char in "$`":
            raise UnclearError("it has a variable or a substitution; write the values themselves")
        if char in "(){}":
            raise UnclearError("it has a group; run one command after the other")
        if char == "#" and self._word is None:
            raise UnclearError("it has a comment; leave it out")
        if not char.isprintable():
            raise UnclearError("it has a control character")
        home = char == "~" and (self._word or "=")[-1] in "=:"
        self._is_pattern = self._is_pattern or home or char in _GLOB
        self._add(char)

    def _add(self, text: str, *, quoted: bool = False) -> None:
        self._word = (self._word or "") + text
        self._is_quoted = self._is_quoted or quoted

    def _end_word(self) -> None:
        if self._word is not None:
            word = Expanded(self._word) if self._is_pattern else self._word
            self._commands[-1].append(word)
        self._word, self._is_quoted, self._is_pattern = None, False, False

    def _until(self, end: str) -> str:
        stop = self._line.find(end, self._at)
        if stop < 0:
            raise UnclearError("a quote is not closed")
        text, self._at = self._line[self._at : stop], stop + 1
        if "\0" in text:
            raise UnclearError("it has a control character")
        return text

    def _double(self) -> None:
        self._add("", quoted=True)
        while self._at < len(self._line):
            char = self._line[self._at]
            self._at += 1
            if char == '"':
                return
            if char in "$`!\0":
                raise UnclearError("it has an expansion in double quotes; use single quotes")
            if char == "\\" and self._line[self._at : self._at + 1] in ('"', "\\", "$", "`"):
                char = self._line[self._at]
                self._at += 1
            elif char == "\\" and self._line[self._at : self._at + 1] == "\n":
                self._at += 1
                continue
            self._add(char)
        raise UnclearError("a quote is not closed")

    def _escaped(self) -> None:
        char = self._line[self._at : self._at + 1]
        self._at += 1
        if not char:
            raise UnclearError("it ends with a backslash")
        if char != "\n":
            self._add(char, quoted=True)

    def _redirect(self, char: str) -> None:
        """Only to /dev/null, and of one output to the other."""
        if self._word is not None and self._word in ("1", "2") and not self._is_quoted:
            self._word = None
        self._end_word()
        rest = self._line[self._at :]
        if char == ">" and rest[:2] in ("&1", "&2"):
            after, length = rest[2:3], 2
        else:
            blank = len(rest) - len(rest.lstrip(" "))
            length = blank + len(_NULL)
            after = rest[length : length + 1]
            if rest[blank:length] != _NULL:
                raise UnclearError("it redirects to a file; use the tool that edits files")
        if after and after not in " \t;&|\n":
            raise UnclearError("it redirects to a file; use the tool that edits files")
        self._at += length
