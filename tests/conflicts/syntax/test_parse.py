"""Files are parsed beside this process: no file ends more than its own parse."""

import os
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.conflicts.syntax import parse
from ghp_agents.conflicts.syntax.facts import SyntaxFacts, from_json, to_json
from ghp_agents.conflicts.syntax.languages import LANGUAGES
from ghp_agents.conflicts.syntax.parse import Source, read_all
from ghp_agents.core import process
from tests.support.clock import ManualClock
from tests.support.definitions import EXTRA, PATIENCE

pytest.importorskip("tree_sitter", reason=EXTRA)

GOOD = Source("python", b"def one():\n    pass\n")


def read(*sources: Source) -> list[SyntaxFacts | None]:
    clock = ManualClock()
    return read_all(sources, ["one"], clock, clock.interval()[1] + PATIENCE)


def names(facts: SyntaxFacts | None) -> list[str]:
    assert facts is not None
    return [definition.name for definition in facts.definitions]


@pytest.mark.slow
def test_every_grammar_is_installed_with_the_extra_and_reads_a_file() -> None:
    assert parse.languages() == frozenset(LANGUAGES)
    empty = SyntaxFacts()
    assert read(*(Source(name, b"") for name in LANGUAGES)) == [empty] * len(LANGUAGES)


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_node_that_is_named_exists_in_the_grammar(name: str) -> None:
    how = LANGUAGES[name]
    kinds = {*how.definitions, *how.classes, *how.functions, *how.imports, *how.identifiers}
    kinds |= {place.partition(".")[0] for place in (*how.binds, *how.members, *how.skipped)}
    unknown = kinds - _known(name)
    if name in ("javascript", "typescript", "tsx"):  # they share a table
        unknown -= _known("typescript") | _known("javascript")
    assert unknown == set()


def _known(name: str) -> set[str]:
    import tree_sitter

    how = LANGUAGES[name]
    language = tree_sitter.Language(getattr(import_module(how.package), how.function)())
    return {language.node_kind_for_id(number) or "" for number in range(language.node_kind_count)}


@pytest.mark.slow
def test_a_file_that_ends_the_parser_ends_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A grammar with an error would end the process so.
    code = (
        "import os, signal\n"
        "from ghp_agents.conflicts.syntax import child\n"
        "read = child.read_facts\n"
        "def fall(language, source, names):\n"
        "    if b'segfault' in source: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    while b'for ever' in source: pass\n"
        "    return read(language, source, names)\n"
        "child.read_facts = fall\n"
        "child.main()\n"
    )
    (tmp_path / "child.py").write_text(code)
    real = process.pipe

    def pipe(command: list[str], *args: object, **words: object) -> bytes:
        return real([sys.executable, str(tmp_path / "child.py")], *args, **words)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "pipe", pipe)
    bad, endless = Source("python", b"# segfault\n"), Source("python", b"# for ever\n")
    parsed = read(GOOD, bad, GOOD, endless, GOOD)
    assert [facts is None for facts in parsed] == [False, True, False, True, False]
    assert names(parsed[4]) == ["one"]


def test_too_many_files_that_end_the_parser_end_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parse, "_read_some", lambda *args: [])
    assert read(*[GOOD] * 9) == [None] * 9


def test_after_the_deadline_nothing_is_parsed() -> None:
    clock = ManualClock()
    assert read_all([GOOD], ["one"], clock, clock.interval()[1]) == [None]


def test_a_program_that_prints_without_end_is_cut(tmp_path: Path) -> None:
    endless = [sys.executable, "-c", "while True: print('x' * 999)"]
    output = process.pipe(
        endless, b"", cwd=tmp_path, env=dict(os.environ), timeout=PATIENCE, most=5_000
    )
    assert len(output) == 5_000


def test_a_program_that_reads_nothing_is_ended_in_time(tmp_path: Path) -> None:
    idle = [sys.executable, "-c", "import signal; signal.pause()"]
    output = process.pipe(
        idle, b"x" * 1_000_000, cwd=tmp_path, env=dict(os.environ), timeout=0.2, most=5_000
    )
    assert output == b""
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


SOURCE = st.text(
    st.sampled_from("one(){}[]=:;,.#\n\t \"'*&<>@ def class from import fn"), max_size=60
)


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(sorted(LANGUAGES)), SOURCE), max_size=20))
def test_any_files_have_facts_that_cross_a_pipe(files: list[tuple[str, str]]) -> None:
    parsed = read(*(Source(language, text.encode()) for language, text in files))
    assert [facts is not None for facts in parsed] == [True] * len(files)
    for facts in parsed:
        assert facts is not None
        assert from_json(to_json(facts)) == facts
