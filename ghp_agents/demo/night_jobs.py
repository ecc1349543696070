"""The twelve jobs of the night: a small program in parts that need each other."""

from typing import NamedTuple

CONFLICT, RED, KILLED, ASKS = "conflict", "red", "killed", "asks"
QUESTION = "In which order does the JSON have its keys?"
OPTIONS = ("sorted", "as in the table")
ANSWER = OPTIONS[0]
PAGE = "README.md"  # two jobs add a line at one place of it
WRONG = "0  # a guess"  # what the first try of a job writes, and its test refuses


class NightJob(NamedTuple):
    """A job: its module, what the module does, and what goes wrong on the way."""

    id: str
    title: str
    code: str
    test: str  # an expression that must be true
    needs: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def module(self) -> str:
        """The file that the job delivers."""
        return f"{self.id}.py"


def _function(name: str, parameter: str, value: str, imports: str = "") -> str:
    head = f"{imports}\n\n\n" if imports else ""
    return f"{head}def {name}({parameter}):\n    return {value}\n"


JOBS = (
    NightJob("words", "Count words", _function("words", "text", "len(text.split())"),
             "words('a b') == 2", trouble=CONFLICT),
    NightJob("lines", "Count lines", _function("lines", "text", "text.count('\\n')"),
             "lines('a\\n') == 1", trouble=CONFLICT),
    NightJob("letters", "Count letters",
             _function("letters", "text", "sum(map(str.isalpha, text))"),
             "letters('a1') == 1", trouble=RED),
    NightJob("longest", "Find the longest word",
             _function("longest", "text", "max(text.split(), key=len, default='')"),
             "longest('a bc') == 'bc'", trouble=KILLED),
    NightJob("average", "Average the words of a line",
             _function("average", "text", "words(text) / max(1, lines(text))",
                       "from lines import lines\nfrom words import words"),
             "average('a b\\n') == 2", ("words", "lines")),
    NightJob("counts", "Collect all counts",
             _function("counts", "text",
                       "{'words': words(text), 'lines': lines(text), 'letters': letters(text)}",
                       "from letters import letters\nfrom lines import lines\n"
                       "from words import words"),
             "counts('a')['letters'] == 1", ("words", "lines", "letters")),
    NightJob("table", "Show the counts as a table",
             _function("table", "text",
                       "'\\n'.join(f'{name} {count}' for name, count in counts(text).items())",
                       "from counts import counts"),
             "table('a').startswith('words 1')", ("counts",)),
    NightJob("as_json", "Show the counts as JSON",
             _function("as_json", "text", "json.dumps(counts(text), sort_keys={sorted})",
                       "import json\n\nfrom counts import counts"),
             "as_json('a').startswith('{\"letters\"')", ("counts",), ASKS),
    NightJob("several", "Count several texts",
             _function("several", "texts", "counts('\\n'.join(texts))",
                       "from counts import counts"),
             "several(['a', 'b'])['words'] == 2", ("counts",)),
    NightJob("command", "Write the command line",
             _function("command", "words_", "as_json(words_[1]) if words_[0] == '--json' "
                       "else table(words_[0])",
                       "from as_json import as_json\nfrom table import table"),
             "command(['a']).endswith('letters 1')", ("table", "as_json")),
    NightJob("manual", "Write the manual",
             _function("manual", "", "'tally [--json] TEXT'"),
             "'--json' in manual()", ("command",)),
    NightJob("release", "Prepare the release",
             _function("release", "", "f'{manual()}; the longest word is {longest(\"a bc\")}'",
                       "from longest import longest\nfrom manual import manual"),
             "release().endswith('bc')", ("manual", "longest", "average", "several")),
)  # fmt: skip


def find(title: str) -> NightJob:
    """The job with this title."""
    return next(job for job in JOBS if job.title == title)


def code(job: NightJob, answer: str = "", *, wrong: bool = False) -> str:
    """The module of a job, after the answer to its question."""
    if wrong:
        return _function(job.id, "text", WRONG)
    return job.code.replace("{sorted}", str(answer == ANSWER))


def test_code(job: NightJob) -> str:
    """The test of a job's module."""
    return (
        f"import unittest\n\nfrom {job.id} import {job.id}\n\n\n"
        f"class Test(unittest.TestCase):\n    def test_{job.id}(self):\n"
        f"        self.assertTrue({job.test})\n"
    )


def job_files() -> str:
    """All jobs as the YAML that `agent-jobs import` reads."""
    lines = []
    for job in JOBS:
        lines += [
            f"- id: {job.id}", f"  title: {job.title}",
            f"  dependencies: [{', '.join(job.needs)}]",
            f"  deliverables: [{job.module}, test_{job.module}]",
            f"  description: Write {job.module} and its test.",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"
