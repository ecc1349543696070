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
# What an agent needs to finish its work. None of them runs another program or changes the set-up.
GIT = ("add", "branch --show-current", "commit", "diff", "log", "rev-parse", "show", "status")
GHP = (
    "agent-check", "agent-claim", "agent-conflicts", "agent-escalate", "agent-escalations",
    "agent-explain", "agent-finish", "agent-handoff", "agent-heartbeat", "agent-inbox",
    "agent-issue", "agent-issues", "agent-jobs", "agent-lease", "agent-leases", "agent-log",
    "agent-notes", "agent-pull", "agent-pulls", "agent-recall", "agent-release",
    "agent-remember", "agent-resume", "agent-review", "agent-send", "agent-status",
    "agent-subscribe", "agent-sync", "agent-thread", "agent-topic", "agent-update",
    "agent-vote", "agent-where", "agent-whoami",
)  # fmt: skip
WRITES = ("--out", "--no-i")  # git's `--output FILE` and `--no-index`, also shortened
_NULL = "/dev/null"


class UnclearError(Exception):
    """The line has something that is not read here."""


def refusal(
    line: str,
    rules: "Sequence[str]",
    own: "Sequence[Sequence[str]]",
    inside: "Callable[[str], bool]",
) -> str:
    """Why a shell line is not allowed; empty if it is. `own` are the ways to call this program,
    `inside` says whether a folder to change to is in the worktree."""
    if ANY in rules:
        return ""
    try:
        found = commands(line)
    except UnclearError as error:
        return str(error)
    known = [rule.split() for rule in rules]
    for words in found:
        if not (_is_allowed(words, known) or _is_implied(words, own, inside)):
            return f"`{' '.join(words[:3])[:60]}` is not among the commands that it may run"
    return ""


def _is_allowed(words: "Sequence[str]", rules: "Sequence[Sequence[str]]") -> bool:
    return any(list(words[: len(rule)]) == list(rule) for rule in rules)


def _is_implied(
    words: "Sequence[str]", own: "Sequence[Sequence[str]]", inside: "Callable[[str], bool]"
) -> bool:
    if words[0] == "cd":
        return len(words) == 2 and inside(words[1])
    if words[0] == "git":
        rules = [["git", *verb.split()] for verb in GIT]
        return _is_allowed(words, rules) and not any(x.startswith(WRITES) for x in words)
    return any(
        list(words[: len(start)]) == list(start)
        and words[len(start) : len(start) + 1]
        and words[len(start)] in GHP
        for start in own
    )


def commands(line: str) -> "list[list[str]]":
    """The words of each command in a line. Raises UnclearError."""
    if len(line) > LONGEST:
        raise UnclearError(f"the line has more than {LONGEST} characters")
    return _Reader(line).read()


class _Reader:
    """Reads a line as a POSIX shell does, as far as it is sure to do the same."""

    def __init__(self, line: str) -> None:
        self._line, self._at = line, 0
        self._found: list[list[str]] = [[]]
        self._word: str | None = None
        self._is_quoted = False

    def read(self) -> "list[list[str]]":
        while self._at < len(self._line):
            char = self._line[self._at]
            self._at += 1
            if char in " \t":
                self._end_word()
            elif char in ";&|\n":
                self._end_word()
                self._found.append([])
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
        return [words for words in self._found if words]

    def _plain(self, char: str) -> None:
        if char in "$`":
            raise UnclearError("it has a variable or a substitution; write the values themselves")
        if char in "(){}":
            raise UnclearError("it has a group; run one command after the other")
        if char == "#" and self._word is None:
            raise UnclearError("it has a comment; leave it out")
        if not char.isprintable():
            raise UnclearError("it has a control character")
        self._add(char)

    def _add(self, text: str, *, quoted: bool = False) -> None:
        self._word = (self._word or "") + text
        self._is_quoted = self._is_quoted or quoted

    def _end_word(self) -> None:
        if self._word is not None:
            self._found[-1].append(self._word)
        self._word, self._is_quoted = None, False

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
