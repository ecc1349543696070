"""How a breach of each house rule is found in a source; the rules are in test_house_rules.py."""

import ast
import itertools
import re
import sys
import tomllib
from collections.abc import Iterable

from tests.support.house import CHECKOUT, Source, broad_excepts, calls, imports

LONGEST = 400  # lines

# The tops of the faces: the functions that may catch everything, and why.
TOPS = {
    ("ghp_agents/cli/app.py", "_run"): "no command may end in a bare traceback",
    (
        "ghp_agents/notes/search/mem0.py",
        "_wrap_errors",
    ): "any engine may be configured; its errors end here",
    ("ghp_agents/notes/search/mem0.py", "_open"): "a store that cannot be opened is made again",
    ("ghp_agents/cli/main.py", "_heartbeat"): "the full command handles a heartbeat that fails",
    ("ghp_agents/doctor/service.py", "examine"): "a check that fails hides no other",
    ("ghp_agents/parts/plugin.py", "attempt"): "a plug-in's error stops no command",
    ("ghp_agents/hooks/entry.py", "run"): "no agent stumbles over a hook of ours",
    ("ghp_agents/__main__.py", "_start_hook"): "nor while the program is being upgraded",
    ("ghp_agents/cli/watch/app.py", "run"): "a key's work in a thread; the watch shows and logs it",
    ("ghp_agents/cli/watch/feed.py", "_read"): "a thread of the watch, which shows and logs it",
    ("ghp_agents/cli/watch/feed.py", "_exchange"): "a thread of the watch, which shows and logs it",
}

# What belongs to a machine or to the making of the project; in pieces, so as not to be found here.
STRANGERS = (
    "/work" + "/", "../" + "shared", "bash" + "_jobs", ".library" + "/", "npmjs" + ".org",
    "pypi" + ".org", "python" + "hosted", "deb." + "debian",
)  # fmt: skip

PRODUCT_WORDS = re.compile(
    r"(?<![a-z])(agent|claim|clone id|escalation|handoff|issue|lease|presence)s?(?![a-z])", re.I
)
NEXT = re.compile(r" [A-Z`]")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
ISSUE_LINK = re.compile(r"#\d+|https://\S+/issues/\d+")


def no_first_line(source: Source) -> Iterable[str]:
    if source.path.endswith("__init__.py"):
        return []
    first = (ast.get_docstring(source.tree) or "").partition("\n")[0]
    is_sentence = source.text.startswith('"""') and len(first.split()) > 2
    return [] if is_sentence else [source.at(1)]


def full_init(source: Source) -> Iterable[str]:
    return [source.at(1)] if source.path.endswith("__init__.py") and source.text else []


def wrong_door(source: Source) -> Iterable[str]:
    for line, name in imports(source):
        library = name.partition(".")[0]
        if library in DOORS:
            if not source.path.startswith(DOORS[library]):
                yield source.at(line)
        elif library != "ghp_agents" and library not in sys.stdlib_module_names:
            yield source.at(line)


def _doors() -> dict[str, tuple[str, ...]]:
    """Who may import each library, from the contracts that import-linter holds."""
    tools = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]
    doors = [x for x in tools["importlinter"]["contracts"] if x["type"] == "protected"]
    return {
        library: tuple(x.replace(".", "/") for x in door["allowed_importers"])
        for door in doors
        for library in door["protected_modules"]
    }


DOORS = _doors()


def broad_except(source: Source) -> Iterable[str]:
    return [
        source.at(line)
        for line, function in broad_excepts(source)
        if (source.path, function) not in TOPS
    ]


def printing(source: Source) -> Iterable[str]:
    if source.path.startswith("ghp_agents/cli/"):
        return [source.at(line) for line, name in calls(source) if name == "print"]
    speaks = ("print", "sys.stdout.write", "sys.stderr.write")
    return [source.at(line) for line, name in calls(source) if name in speaks]


def sleeping(source: Source) -> Iterable[str]:
    if source.path in ("ghp_agents/core/clock.py", "ghp_agents/hotpath/boot_clock.py"):
        return []
    return [source.at(line) for line, name in calls(source) if name in ("time.sleep", "sleep")]


def impure(source: Source) -> Iterable[str]:
    outside = {"os", "pathlib", "random", "secrets", "shutil", "socket", "subprocess", "time"}
    for line, name in imports(source):
        if name.partition(".")[0] in outside:
            yield source.at(line)
    for line, name in calls(source):
        if name == "open" or name.endswith((".now", ".utcnow", ".today")):
            yield source.at(line)


def product_in_git(source: Source) -> Iterable[str]:
    if source.path != "ghp_agents/git/process.py":
        return []
    mentions = re.compile(r"ghp agent-\w+|ghp_agents")  # hints name commands; imports are imports
    return [
        source.at(number)
        for number, line in enumerate(source.lines, 1)
        if PRODUCT_WORDS.search(mentions.sub("", line))
    ]


def unfinished(source: Source) -> Iterable[str]:
    return [
        source.at(number)
        for number, line in enumerate(source.lines, 1)
        if UNFINISHED.search(line) and not ISSUE_LINK.search(line)
    ]


def too_long(source: Source) -> Iterable[str]:
    count = len(source.lines)
    return [f"{source.path}: {count} lines"] if count > LONGEST else []


def strangers(source: Source) -> Iterable[str]:
    return [
        source.at(number)
        for number, line in enumerate(source.lines, 1)
        if any(word in line for word in STRANGERS)
    ]


def make_believe(source: Source) -> Iterable[str]:
    for line, name in imports(source):
        if name.startswith(("unittest.mock", "mock")):
            yield source.at(line)
    for line, name in calls(source):
        if name in ("time.sleep", "sleep", "datetime.now", "datetime.datetime.now", "date.today"):
            yield source.at(line)


def silent_skip(source: Source) -> Iterable[str]:
    skips = ("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in skips:
            if not any(word.arg == "reason" for word in node.keywords):
                yield source.at(node.lineno)
        elif isinstance(node, ast.FunctionDef):
            bare = [x for x in node.decorator_list if ast.unparse(x) in skips]
            yield from (source.at(x.lineno) for x in bare)


def unended_error(source: Source) -> Iterable[str]:
    """An error's text before the next sentence, without what ends it."""
    handlers = (x for x in ast.walk(source.tree) if isinstance(x, ast.ExceptHandler))
    names = {handler.name for handler in handlers}
    for text in ast.walk(source.tree):
        parts = text.values if isinstance(text, ast.JoinedStr) else []
        for first, then in itertools.pairwise(parts):
            is_error = isinstance(first, ast.FormattedValue) and (
                isinstance(first.value, ast.Name) and first.value.id in names
            )
            if is_error and isinstance(then, ast.Constant) and NEXT.match(str(then.value)):
                yield source.at(first.lineno)
