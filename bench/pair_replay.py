"""Pairs of changes replayed by two agents in two worktrees, and judged by git."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from bench import merging, pair
from bench.merging import Files, Question
from bench.pair import Pair
from bench.place import Place
from bench.two_agents import ALLOWED, REFUSED, Agent, Answer, Clone, Hooks, Step, steps

FIRST, SECOND, TURNS = "first, second", "second, first", "in turns"
ORDERS = (FIRST, SECOND, TURNS)


class Moment(NamedTuple):
    """A step of a replay: what the hook said, and both states with the step in them."""

    path: str
    word: str
    states: tuple[Files, Files]
    text: str = ""


@dataclass
class Replay:
    """One pair in one order."""

    pair: Pair
    order: str
    moments: list[Moment] = field(default_factory=list)
    conflicts: list[frozenset[str]] = field(default_factory=list)  # of each moment
    whole: frozenset[str] = frozenset()  # of the two complete changes

    def missed(self) -> list[Moment]:
        """Allowed steps that made a conflict which nobody announced."""
        announced: set[str] = set()
        found = []
        for moment, torn in zip(self.moments, self.conflicts, strict=True):
            if moment.word != ALLOWED:
                announced.add(moment.path)
            elif torn - announced:
                found.append(moment)
        return found

    def refusals(self) -> list[Moment]:
        """Steps that were refused, or of which the agent was told a conflict."""
        return [moment for moment in self.moments if moment.word != ALLOWED]

    def needless(self) -> list[Moment]:
        """Refusals of steps with which the file merges."""
        each = zip(self.moments, self.conflicts, strict=True)
        return [m for m, torn in each if m.word != ALLOWED and m.path not in torn]


class FileRule(Hooks):
    """The rule per file: who edits a file first has it."""

    def __init__(self) -> None:
        self.holders: dict[str, str] = {}

    def before(self, agent: Agent, step: Step) -> Answer:
        """Refused if the other agent has edited the file."""
        holder = self.holders.setdefault(step.path, agent.name)
        return Answer(ALLOWED if holder == agent.name else REFUSED, "", 0.0)

    def after(self, agent: Agent, tool: Mapping[str, object], path: str) -> Answer:
        """Nothing is said after a step."""
        return Answer(ALLOWED, "", 0.0)


class Costs:
    """The seconds of whole processes before an edit: of files that the other has edited, or not."""

    def __init__(self) -> None:
        self.alone: list[float] = []
        self.shared: list[float] = []


def replay_all(
    place: Place, clone: Clone, pairs: Sequence[Pair], hooks: type[Hooks] = Hooks
) -> list[Replay]:
    """Each pair in each order, judged by git."""
    commits = bases(clone, pairs)
    replays = [
        replay(clone, each, commit, order, hooks())
        for each, commit in zip(pairs, commits, strict=True)
        for order in ORDERS
    ]
    judge(place, replays)
    return replays


def bases(clone: Clone, pairs: Sequence[Pair]) -> list[str]:
    """The base commit of each pair, in the clone."""
    stream = merging.Commits()
    marks = [stream.base(_texts(each)) for each in pairs]
    names = stream.write(clone.folder)
    return [names[mark] for mark in marks]


def _texts(each: Pair) -> Files:
    # A file of its own, so that no tree is empty.
    return {"README.md": "# A project\n"} | {p: "".join(text) for p, text in each.base().items()}


def replay(
    clone: Clone, each: Pair, commit: str, order: str, hooks: Hooks, costs: Costs | None = None
) -> Replay:
    """Replay one pair in one order."""
    clone.begin(each, commit)
    shared = {*each.shared()}
    done = Replay(each, order)
    for number, step in _in_order(clone, each, order):
        agent = clone.agents[number]
        other = clone.agents[1 - number]
        tool = agent.tool(step)
        answer = hooks.before(agent, step)
        if costs is not None and answer.seconds:
            (costs.shared if step.path in other.files else costs.alone).append(answer.seconds)
        mine = {**agent.files, step.path: agent.after(step)}
        if answer.word == ALLOWED:
            agent.do(step)
            answer = hooks.after(agent, tool, step.path)
        if step.path in shared or answer.word != ALLOWED:
            states = (mine, {**other.files}) if number == 0 else ({**other.files}, mine)
            done.moments.append(Moment(step.path, answer.word, states, answer.text))
    last = (clone.agents[0].files, clone.agents[1].files)
    done.moments.append(Moment("", ALLOWED, last))
    return done


def _in_order(clone: Clone, each: Pair, order: str) -> Iterator[tuple[int, Step]]:
    first, second = ([(side, step) for step in steps(each.files, side)] for side in (0, 1))
    if order == FIRST:
        yield from first + second
    elif order == SECOND:
        yield from second
        clone.agents[1].commit()
        yield from first
    else:
        for turn in zip_longest(first, second):
            yield from (step for step in turn if step)


# ----------------------------------------------------------------------------- what git says


def judge(place: Place, replays: Sequence[Replay]) -> None:
    """Ask git of every moment, and of the complete changes."""
    repository = merging.new_repository(place.new("judge") / "judge.git")
    texts = {each.pair.name: _texts(each.pair) for each in replays}
    questions: list[Question] = []
    for each in replays:
        base = texts[each.pair.name]
        questions += [Question(base, *moment.states) for moment in each.moments]
        questions.append(Question(base, *(_complete(each.pair, side) for side in (0, 1))))
    answers = iter(merging.conflicts(repository, questions))
    for each in replays:
        each.conflicts = [next(answers) for _ in each.moments]
        each.whole = next(answers)


def _complete(each: Pair, side: int) -> Files:
    base = each.base()
    found: dict[str, str | None] = {}
    done: dict[str, list[pair.Hunk]] = {}
    for step in steps(each.files, side):
        hunks = done.setdefault(step.path, [])
        hunks += step.hunks
        text = "".join(pair.applied(base.get(step.path), hunks))
        found[step.path] = None if step.kind == "delete" else text
    return found
