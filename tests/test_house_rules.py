"""The rules of the house, each with its reason; a broken one says what to do.

Each rule carries a piece of code that breaks it and one that keeps it, so a rule that has gone
blind fails here too. What ruff, mypy and import-linter hold already is not repeated.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest

from tests.support import breaches, reader_texts
from tests.support.breaches import LONGEST, TOPS
from tests.support.house import CHECKOUT, Source, broad_excepts, sources
from tests.support.pure import PURE
from tests.support.reader_texts import MOST, MOST_IN_GUIDES
from tools.measures import measures

pytestmark = [pytest.mark.slow, pytest.mark.cases(99)]  # `make check` runs them, first of all


@dataclass(frozen=True)
class Rule:
    """A rule, its reason, what to do instead, and how a breach is found."""

    says: str
    why: str
    instead: str
    breaches: Callable[[Source], Iterable[str]]
    bad: Source
    good: Source
    folders: tuple[str, ...] = ("ghp_agents",)
    suffix: str = ".py"

    def report(self, found: list[str]) -> str:
        """What a person reads when the rule is broken."""
        places = "\n".join(f"  {place}" for place in found)
        return f"\n{self.says}\nWhy: {self.why}\nInstead: {self.instead}\n{places}"


PLACE = "ghp_agents/issues/example.py"

RULES = [
    Rule(
        says="The first line of a module says what it is for.",
        why="A reader decides by it whether to read on; a file whose line needs an 'and' is two.",
        instead="Begin the file with a docstring whose first line is a sentence.",
        breaches=breaches.no_first_line,
        bad=Source(PLACE, "import os\n"),
        good=Source(PLACE, '"""What an example is."""\n'),
        folders=("ghp_agents", "tests", "tools", "bench"),
    ),
    Rule(
        says="`__init__.py` is empty.",
        why="It runs on every import below it: a beat would pay for it, and cycles start there.",
        instead="Import from the module itself; what others may use is `ghp_agents/api.py`.",
        breaches=breaches.full_init,
        bad=Source("ghp_agents/state/__init__.py", "from ghp_agents.state import memory\n"),
        good=Source("ghp_agents/state/__init__.py", ""),
    ),
    Rule(
        says="A heavy library has one door.",
        why="It can then be replaced, costs only where it is used, and its errors stop there.",
        instead="Call the module that owns it. A new library needs a note in docs/design/ and a "
        "contract 'One door: …' in pyproject.toml.",
        breaches=breaches.wrong_door,
        bad=Source(PLACE, "def f():\n    from rich import print\n"),
        good=Source("ghp_agents/cli/printing/tables.py", "def f():\n    from rich import print\n"),
    ),
    Rule(
        says="No broad `except` but at the top of a face.",
        why="It hides the error that nobody thought of, and work goes on with half a result.",
        instead="Catch what you can name; the faces in TOPS (tests/support/breaches.py) catch the "
        "rest.",
        breaches=breaches.broad_except,
        bad=Source(
            PLACE, "def f():\n    try:\n        g()\n    except (OSError, Exception):\n        0\n"
        ),
        good=Source(PLACE, "def f():\n    try:\n        g()\n    except OSError:\n        0\n"),
    ),
    Rule(
        says="Only the faces speak, and the command line through cli/output.py.",
        why="A service that prints cannot serve a hook, and breaks `--json` for scripts.",
        instead="Return a value; the face prints it with `output.data`, `say`, `warn` or `table`.",
        breaches=breaches.printing,
        bad=Source(PLACE, "import sys\nsys.stdout.write('x')\n"),
        good=Source("ghp_agents/cli/output.py", "import sys\nsys.stdout.write('x')\n"),
    ),
    Rule(
        says="Only the clock sleeps.",
        why="A test can then decide what time it is, and no test waits.",
        instead="Call `clock.wait(seconds)` on the clock that you were given.",
        breaches=breaches.sleeping,
        bad=Source(PLACE, "import time\ntime.sleep(1)\n"),
        good=Source("ghp_agents/core/clock.py", "import time\ntime.sleep(1)\n"),
    ),
    Rule(
        says="Records, rules and messages read no clock, no file and no environment.",
        why="Rules that take values and return values can be read, tested and trusted alone.",
        instead="Take the time or the content as an argument; the caller fetches it. The "
        "list of these modules is in tests/support/pure.py.",
        breaches=breaches.impure,
        bad=Source("ghp_agents/issues/record.py", "import time\n"),
        good=Source("ghp_agents/issues/record.py", "import re\n"),
        folders=PURE,
    ),
    Rule(
        says="`git/process.py` knows git and not one word of ours.",
        why="It is a tool; with the product's words in it, every change of the product reaches it.",
        instead="Pass it plain paths, refs and text; the meaning stays with the caller.",
        breaches=breaches.product_in_git,
        bad=Source("ghp_agents/git/process.py", "def push_lease(name): ...\n"),
        good=Source("ghp_agents/git/process.py", 'hint = "Run `ghp agent-doctor`."\n'),
        folders=("ghp_agents/git/process.py",),
    ),
    Rule(
        says="The text of an error ends before the next sentence begins.",
        why="What git says ends without a full stop, so two sentences would run together.",
        instead="Write `sentence(error)`, of `core/errors.py`.",
        breaches=breaches.unended_error,
        bad=Source(PLACE, "try: x()\nexcept E as no:\n    say(f'{no} Later.')\n"),
        good=Source(PLACE, "try: x()\nexcept E as no:\n    say(f'{sentence(no)} Later: {no}')\n"),
        folders=("ghp_agents",),
    ),
    Rule(
        says="What is unfinished has an issue.",
        why="A note in the code is read by nobody who plans.",
        instead="Open an issue and put its number on the line, or finish it.",
        breaches=breaches.unfinished,
        bad=Source(PLACE, "# TO" + "DO: make it fast\n"),
        good=Source(PLACE, "# TO" + "DO(#12): make it fast\n"),
        folders=("ghp_agents", "tests", "tools", "bench", "templates", "docs"),
        suffix="",
    ),
    Rule(
        says=f"No file is longer than {LONGEST} lines.",
        why="Most are 60 to 150; one that wants to be this long is about two things.",
        instead="Split it by noun, never into 'utils' or 'helpers2'.",
        breaches=breaches.too_long,
        bad=Source(PLACE, "x = 1\n" * (LONGEST + 1)),
        good=Source(PLACE, "x = 1\n" * LONGEST),
        folders=("ghp_agents", "tools", "bench", "tests/support"),
    ),
    Rule(
        says="The project speaks of the project alone.",
        why="Paths of a machine and hosts of registries mean nothing to those who read it.",
        instead="Take the words out; the package index is whatever the user's pip is set to.",
        breaches=breaches.strangers,
        bad=Source("README.md", "See " + "/work" + "/notes.\n"),
        good=Source("README.md", "See docs/ARCHITECTURE.md.\n"),
        folders=(".",),
        suffix="",
    ),
    Rule(
        says="Tests use neither mocks nor sleeps nor the wall clock.",
        why="A mock repeats what its author believed; a sleep is slow on one machine, short on "
        "another.",
        instead="Use real git, the in-memory adapter of the port, `ManualClock`; wait for a "
        "process with `wait(timeout=…)`.",
        breaches=breaches.make_believe,
        bad=Source("tests/test_example.py", "from unittest import mock\n"),
        good=Source("tests/test_example.py", "from tests.support.clock import ManualClock\n"),
        folders=("tests",),
    ),
    Rule(
        says="A test that is skipped says why.",
        why="`-ra` prints the reason; without one a test can stay off for ever.",
        instead="Give `reason=`, or pin the present behaviour instead.",
        breaches=breaches.silent_skip,
        bad=Source("tests/test_example.py", "@pytest.mark.skip\ndef test_x(): ...\n"),
        good=Source("tests/test_example.py", "@pytest.mark.skip(reason='x')\ndef test_x(): ...\n"),
        folders=("tests",),
    ),
    Rule(
        says=f"A sentence that people or agents read has at most {MOST} words.",
        why="A longer one needs a second reading, and most of its readers are not at home in it.",
        instead="Make two sentences of it, or drop what the reader does not need. A command, a "
        "quotation or a bracket counts as one word, and a colon ends a sentence.",
        breaches=reader_texts.long_sentences,
        bad=Source(PLACE, f"GhpError('{'so ' * MOST}long.')\n"),
        good=Source(PLACE, f"GhpError('{'so ' * (MOST - 1)}long.')\n"),
    ),
    Rule(
        says=f"A sentence of a guide has at most {MOST_IN_GUIDES} words.",
        why="Most readers of a guide look for one thing, and many have another first language.",
        instead="Make two sentences of it, or a list. Links, commands and brackets count as one "
        "word; a colon or a semicolon ends a sentence.",
        breaches=reader_texts.long_guide_sentences,
        bad=Source("docs/example.md", "So " * MOST_IN_GUIDES + "long.\n"),
        good=Source("docs/example.md", "So " * (MOST_IN_GUIDES - 1) + "long.\n"),
        folders=("README.md", "SECURITY.md", "docs"),
        suffix=".md",
    ),
    Rule(
        says="Help, messages, errors and hints use the words of docs/STYLE.md.",
        why="A word that is read as a figure of speech hides who does what.",
        instead="; ".join(f"not `{no}`: {yes}" for no, yes in reader_texts.CROOKED.items()) + ".",
        breaches=reader_texts.crooked_words,
        bad=Source(PLACE, "output.say('The agent hears of it.')\n"),
        good=Source(PLACE, "output.say('The agent is notified.')\n"),
    ),
]

each_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.breaches.__name__ for rule in RULES])


@each_rule
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    found = [
        breach
        for source in sources(*rule.folders, suffix=rule.suffix)
        for breach in rule.breaches(source)
    ]
    if found:
        pytest.fail(rule.report(found), pytrace=False)


@each_rule
def test_the_rule_sees_a_breach_and_nothing_else(rule: Rule) -> None:
    assert list(rule.breaches(rule.bad))
    assert list(rule.breaches(rule.good)) == []


def test_every_top_that_may_catch_everything_still_does() -> None:
    found = {
        (source.path, where)
        for source in sources("ghp_agents", suffix=".py")
        for _, where in broad_excepts(source)
    }
    gone = sorted(TOPS.keys() - found)
    assert gone == [], "Take these out of TOPS: an exception that is not used invites misuse."


def test_agents_md_names_every_part_of_the_package() -> None:
    text = (CHECKOUT / "AGENTS.md").read_text()
    parts = {source.path.split("/")[1] for source in sources("ghp_agents", suffix=".py")}
    hidden = {"__init__.py"}
    missing = sorted(part for part in parts - hidden if f"`{part.removesuffix('.py')}" not in text)
    assert missing == [], "A new file or folder chooses its floor in the table of AGENTS.md."


MEASURES = {  # at most; `python -m tools.measures` prints them
    "largest folder": 40,
    "largest folder of a noun": 25,
    "files in the package's root": 7,
    "public classes that share a name": 0,
    "bindings of `said`, `told`": 1,  # a field of a file in the state
    "bindings of vague names": 0,  # the words are in docs/STYLE.md
    "longest import chain": 20,
}


def test_the_package_keeps_its_measures() -> None:
    found = measures(CHECKOUT / "ghp_agents")
    large = {name: found[name] for name, most in MEASURES.items() if _first(found[name]) > most}
    assert large == {}, "Split the folder, rename the class or variable, or import for types only."


def _first(value: str) -> int:
    return int(value.split()[0].strip(","))


def test_no_text_advises_a_stash() -> None:
    # All worktrees of a clone share one stack: agents would pop each other's work.
    places = [source.path for source in (*sources("ghp_agents"), *sources("docs", suffix=".md"))
              if "`git stash" in source.text.replace("`git stash list`", "")
              and not source.path.startswith("docs/design/")]  # fmt: skip
    assert places == [], "Name a command of ours that saves the work by name."


def test_one_function_writes_the_command_that_starts_work() -> None:
    # It names the agent where the environment does not; without a name the command is refused.
    written = [f"{source.path}: {line.strip()}" for source in sources("ghp_agents")
               for line in source.text.splitlines()
               if "ghp agent-start {" in line
               and source.path != "ghp_agents/presence/start_command.py"]  # fmt: skip
    assert written == [], "Use `start_command`."
