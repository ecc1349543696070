"""The benchmark that says what the guard is worth: its pairs, its edits, and git's judgement."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bench import effect, merging, pair, pair_replay
from bench.merging import Question
from bench.pair import Hunk, Pair, PairFile, Touch
from bench.pair_replay import FileRule, Replay
from bench.place import Place, temporary
from bench.two_agents import ALLOWED, REFUSED, Agent, Answer, Clone, Hooks, Step, steps

UNTOUCHED = Touch("", ())


def change(*hunks: tuple[int, int, int, str]) -> Touch:
    return Touch("M", tuple(Hunk(*hunk) for hunk in hunks))


def new(text: str) -> Touch:
    return Touch("A", (Hunk(1, 0, 3, text),))


GONE = Touch("D", (Hunk(1, 20, 0, ""),))
# Each with whether git refuses to merge the whole.
MERGES = Pair(
    "apart", False, {"a.py": PairFile(20, (change((3, 1, 1, "x")), change((15, 0, 2, "y"))))}
)
SAME_LINE = Pair(
    "line", True, {"a.py": PairFile(20, (change((3, 1, 1, "x")), change((3, 1, 1, "y"))))}
)
BOTH_NEW = Pair("new", True, {"b.py": PairFile(-1, (new("x"), new("y")))})
DELETED = Pair("deleted", True, {"a.py": PairFile(20, (GONE, change((3, 1, 1, "y"))))})
ALL = [MERGES, SAME_LINE, BOTH_NEW, DELETED]


class Careless(Hooks):
    """A guard that allows everything."""

    def before(self, agent: Agent, step: Step) -> Answer:
        return Answer(ALLOWED, "", 0.0)

    def after(self, agent: Agent, tool: Mapping[str, object], path: str) -> Answer:
        return Answer(ALLOWED, "", 0.0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, quick=True)


def replays(place: Place, hooks: type[Hooks]) -> list[Replay]:
    return pair_replay.replay_all(place, Clone(place), ALL, hooks)


# ------------------------------------------------------------------------------ the pairs


@pytest.mark.slow
def test_the_pairs_are_those_of_three_projects() -> None:
    found = pair.of_projects()
    assert {name: len(pairs) for name, pairs in found.items()} == {
        "click": 142, "black": 206, "pytest": 117,
    }  # fmt: skip
    assert {name: sum(each.conflict for each in pairs) for name, pairs in found.items()} == {
        "click": 47, "black": 32, "pytest": 37,
    }  # fmt: skip
    alone = [each.conflict for pairs in found.values() for each in pairs if not each.shared()]
    assert alone == [False] * 5


def test_hunks_apply_in_lines_of_the_base_whichever_are_left_out() -> None:
    hunks = [Hunk(1, 0, 1, "x"), Hunk(2, 1, 2, "y"), Hunk(4, 0, 1, "z")]
    base = ["1\n", "2\n", "3\n"]
    assert pair.applied(base, hunks) == ["x 1\n", "1\n", "y 1\n", "y 2\n", "3\n", "z 1\n"]
    assert pair.applied(base, hunks[2:]) == ["1\n", "2\n", "3\n", "z 1\n"]
    assert base == ["1\n", "2\n", "3\n"]


def test_a_change_is_its_hunks_its_new_files_and_what_a_shell_deletes() -> None:
    found = [(step.kind, step.path, len(step.hunks)) for step in steps(
        {
            "a.py": PairFile(20, (change((3, 1, 1, "x"), (9, 0, 2, "y")), UNTOUCHED)),
            "b.py": PairFile(-1, (new("x"), UNTOUCHED)),
            "c.py": PairFile(20, (GONE, UNTOUCHED)),
        }, 0,
    )]  # fmt: skip
    assert found == [
        ("edit", "a.py", 1),
        ("edit", "a.py", 1),
        ("write", "b.py", 1),
        ("delete", "c.py", 0),
    ]


@pytest.mark.slow
def test_the_arguments_of_each_edit_make_the_text_that_is_judged(tmp_path: Path) -> None:
    for name, pairs in pair.of_projects().items():
        for each in pairs[::20]:
            agent = Agent("worker-1", tmp_path / name)
            agent.folder.mkdir(exist_ok=True)
            agent.start(each.base())
            for step in steps(each.files, 1):
                given = agent.tool(step)["tool_input"]
                before = agent.files.get(step.path, "".join(each.base().get(step.path, ())))
                if step.kind == "edit" and before is not None:
                    assert before.count(given["old_string"]) == 1
                    made = before.replace(given["old_string"], given["new_string"])
                    assert made == agent.after(step)
                agent.do(step)


# -------------------------------------------------------------------------- what git says


def test_git_judges_each_merge_by_its_paths(tmp_path: Path) -> None:
    base = {"a": "1\n2\n3\n", "b": "1\n"}
    questions = [
        Question(base, {"a": "x\n2\n3\n"}, {"b": "2\n"}),
        Question(base, {"a": "x\n2\n3\n", "b": None}, {"a": "y\n2\n3\n", "b": "2\n"}),
        Question({"c": "1\n"}, {"new": "1\n"}, {"new": "2\n"}),
    ]
    repository = merging.new_repository(tmp_path / "judge.git")
    assert merging.conflicts(repository, questions) == [
        frozenset(), frozenset({"a", "b"}), frozenset({"new"}),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_guard_that_lets_everything_pass_misses_every_conflict(place: Place) -> None:
    found = replays(place, Careless)
    assert [bool(each.whole) for each in found] == [False] * 3 + [True] * 9
    assert [bool(each.missed()) for each in found] == [False] * 3 + [True] * 9
    assert [each.refusals() for each in found] == [[]] * 12


@pytest.mark.slow
def test_the_rule_per_file_refuses_what_merges(place: Place) -> None:
    found = replays(place, FileRule)
    assert [each.missed() for each in found] == [[]] * 12
    assert [len(each.needless()) for each in found] == [1] * 3 + [0] * 9
    assert [each.moments[1].word for each in found] == [REFUSED] * 12
    missed, needless, idle = effect.figures_of("these", found)
    assert (missed.measured, missed.note) == (0, "100 % of 9 conflicts were, in 12 replays")
    assert (round(needless.measured), needless.note) == (25, "3 of 12 refused edits")
    assert (idle.measured, idle.note) == (25.0, "3 of 12 replays with a refusal")


@pytest.mark.slow
def test_the_real_hook_refuses_only_what_git_cannot_merge() -> None:
    with temporary(quick=True) as place:
        found = replays(place, Hooks)
    assert [len(each.refusals()) for each in found] == [0] * 3 + [1] * 9
    assert [each.missed() + each.needless() for each in found] == [[]] * 12
    assert all("worker-" in each.refusals()[0].text for each in found[3:])
