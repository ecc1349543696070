"""Where a workflow stands: every order of events, seen twice or by two clones, leads to one end."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.messages.message import ACK, FAILED, Letter, Message
from ghp_agents.workflows import engine
from ghp_agents.workflows.engine import Action, StepFacts, StepState
from ghp_agents.workflows.workflow import Workflow, WorkflowStep

AT = Timestamp("2026-01-02T03:04:05Z")


def message(name: str, kind: str = "request", **more: object) -> Message:
    new = Message(name, Actor("worker-1"), ("worker-2",), "Tabs", AT, 1, CloneId("c"), kind=kind)
    return new._replace(**more)  # type: ignore[arg-type]


def sent(*replies: str) -> Letter:
    """A step's message with replies: ack, done, failed, or a verdict."""
    messages = []
    for number, word in enumerate(replies):
        kind = word if word in (ACK, "done", FAILED) else "done"
        verdict = word if word != kind else ""
        messages.append(message(f"f{number:03}", kind, by=Actor("worker-2"), about="aaaa",
                             verdict=verdict, clock=2 + number))  # fmt: skip
    return Letter(message("aaaa"), tuple(messages))


def flow(*steps: WorkflowStep) -> Workflow:
    return Workflow("release", steps=steps)


LOOK = WorkflowStep("look", "Look", "@all", "review")
MEND = WorkflowStep("mend", "Mend", "author", after=("look",), only_if="changes")
SHIP = WorkflowStep("ship", "Ship", "@all", after=("mend",))


def shown(states: tuple[StepState, ...]) -> list[str]:
    return [state.outcome or state.status for state in states]


@pytest.mark.parametrize(
    ("facts", "states", "todo"),
    [
        ({}, "active waiting waiting", "send look"),
        ({"look": sent()}, "active waiting waiting", ""),
        ({"look": sent(ACK)}, "active waiting waiting", ""),
        ({"look": sent("approve")}, "approved not needed active", "send ship"),
        ({"look": sent("request-changes")}, "changes active waiting", "send mend"),
        ({"look": sent("request-changes"), "mend": sent("done")}, "changes done active",
         "send ship"),
        ({"look": sent("failed")}, "failed not reached not reached", ""),
        ({"look": sent("request-changes"), "mend": sent("failed")}, "changes failed not reached",
         ""),
    ],
)  # fmt: skip
def test_a_step_follows_from_what_became_of_those_before_it(
    facts: dict[str, Letter], states: str, todo: str
) -> None:
    step_facts = {name: StepFacts(letter) for name, letter in facts.items()}
    states_found = engine.look(flow(LOOK, MEND, SHIP), step_facts)
    assert " ".join(shown(states_found)) == states
    assert [
        f"{x.what} {x.step.name}" for x in engine.actions(states_found, step_facts)
    ] == todo.split("\n")[: bool(todo)]


@pytest.mark.parametrize(
    ("gate", "facts", "state", "todo"),
    [
        ("approval", StepFacts(sent("done")), "gated", engine.ASKS),
        ("vote", StepFacts(sent("done")), "gated", engine.PROPOSES),
        ("checks", StepFacts(sent("done"), gate=engine.OPEN), "gated", None),
        ("approval", StepFacts(sent("done"), gate=engine.OPEN), "gated", None),
        ("approval", StepFacts(sent("done"), gate=engine.PASSED), "done", None),
        ("approval", StepFacts(sent("done"), gate=engine.CLOSED), "refused", None),
        ("approval", StepFacts(sent("failed")), "failed", None),
    ],
)
def test_a_gate_holds_a_step_back_until_it_has_passed(
    gate: str, facts: StepFacts, state: str, todo: str | None
) -> None:
    step = WorkflowStep("look", "Look", "@all", gate=gate)
    states = engine.look(flow(step), {"look": facts})
    assert shown(states) == [state]
    assert engine.actions(states, {"look": facts}) == ([Action(todo, step)] if todo else [])


def test_the_whole_has_failed_if_it_ended_otherwise_than_hoped_and_no_step_was_for_that() -> None:
    one = flow(LOOK)
    assert engine.standing(engine.look(one, {})) == engine.RUNNING
    changes = {"look": StepFacts(sent("request-changes"))}
    assert engine.standing(engine.look(one, changes)) == engine.STUCK
    both = {**changes, "mend": StepFacts(sent("done"))}
    assert engine.standing(engine.look(flow(LOOK, MEND), both)) == engine.COMPLETED
    assert engine.standing(engine.look(one, {"look": StepFacts(sent("failed"))})) == engine.STUCK


def test_the_id_of_what_a_step_sends_is_the_same_in_every_clone() -> None:
    names = {engine.identity(start, step, what) for start in ("aaaa", "bbbb")
             for step in ("look", "ship") for what in (engine.SENDS, engine.PROPOSES)}  # fmt: skip
    assert len(names) == 8
    assert engine.identity("aaaa", "look") == "09895855b2aa"


# --------------------------------------------------------------------- all orders of events


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """Up to six steps, each after some earlier ones."""
    steps: list[WorkflowStep] = []
    for number in range(draw(st.integers(1, 6))):
        earlier = [step.name for step in steps]
        after = tuple(draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2))
                      if earlier else ())  # fmt: skip
        only_if = draw(st.sampled_from(["", "", "failed", "changes"])) if after else ""
        gate = draw(st.sampled_from(["", "", "approval", "vote"]))
        role = draw(st.sampled_from(["@all", "@all", ""])) if gate else "@all"
        kind = draw(st.sampled_from(["request", "review"]))
        steps.append(WorkflowStep(f"s{number}", "Step", role, kind, after, only_if, gate))
    return flow(*steps)


class World:
    """Two clones with records of their own, which meet in syncs; agents that answer."""

    def __init__(self, workflow: Workflow, random: Random) -> None:
        self.workflow, self.random = workflow, random
        self.clones: list[dict[tuple[str, str], str]] = [{}, {}]

    def facts(self, clone: int) -> dict[str, StepFacts]:
        words, step_facts = self.clones[clone], {}
        for step in self.workflow.steps:
            word = words.get((step.name, engine.SENDS))
            letter = None if word is None else sent(*([word] if word else []))
            gates = (words.get((step.name, x)) for x in (engine.ASKS, engine.PROPOSES))
            step_facts[step.name] = StepFacts(letter, gate=next((x for x in gates if x), ""))
        return step_facts

    def states(self, clone: int) -> tuple[StepState, ...]:
        return engine.look(self.workflow, self.facts(clone))

    def act(self, clone: int) -> None:
        """What a sync does; killed at any of its actions."""
        for action in engine.actions(self.states(clone), self.facts(clone)):
            if self.random.random() < 0.3:
                return
            self.do(clone, action)

    def do(self, clone: int, action: Action) -> None:
        key = (action.step.name, action.what)
        assert key not in self.clones[clone], "nothing is done twice in one clone"
        self.clones[clone][key] = "" if action.what == engine.SENDS else engine.OPEN

    def answer(self, clone: int) -> None:
        waiting = [x for x, word in self.clones[clone].items() if word in ("", engine.OPEN)]
        if waiting:
            key = self.random.choice(waiting)
            words = ["done", "failed", "approve", "request-changes"]
            if key[1] != engine.SENDS:
                words = [engine.PASSED, engine.CLOSED]
            if self.clones[1 - clone].get(key, "") in ("", engine.OPEN):  # one agent has it
                self.clones[clone][key] = self.random.choice(words)

    def sync(self) -> None:
        both = self.clones
        for key in {*both[0], *both[1]}:
            words = {events[key] for events in both if key in events} - {"", engine.OPEN}
            blank = "" if key[1] == engine.SENDS else engine.OPEN
            for events in both:
                events[key] = next(iter(words), blank)

    def finish(self) -> None:
        """Agents go on until nothing waits for them."""
        for _ in range(40):
            self.act(0)
            self.answer(0)
        self.sync()


@pytest.mark.slow
@given(workflows(), st.integers(0, 10**6))
def test_every_order_of_events_in_two_clones_ends_and_no_end_changes(
    workflow: Workflow, seed: int
) -> None:
    world = World(workflow, Random(seed))
    before: dict[str, StepState] = {}
    for _ in range(12):  # syncs; each has at least one event more, and six steps have two ends
        for _ in range(world.random.randrange(1, 5)):
            world.random.choice([world.act, world.answer])(world.random.randrange(2))
        world.sync()
        world.act(0)
        world.answer(0)
        world.sync()
        merged = {state.step.name: state for state in world.states(0)}
        over = {name: state for name, state in before.items() if state.is_over}
        assert {name: merged[name] for name in over} == over, "an end does not change"
        before = merged
        for state in merged.values():
            if state.status == engine.WAITING:
                assert world.facts(0)[state.step.name].letter is None, "nothing is sent early"
    world.finish()
    assert world.states(0) == world.states(1)
    assert engine.standing(world.states(0)) != engine.RUNNING


@pytest.mark.slow
@given(workflows(), st.integers(0, 10**6))
def test_two_clones_that_act_before_they_meet_make_the_same_records(
    workflow: Workflow, seed: int
) -> None:
    world = World(workflow, Random(seed))
    for _ in range(12):
        for clone in (0, 1):
            for action in engine.actions(world.states(clone), world.facts(clone)):
                world.do(clone, action)
        assert world.clones[0].keys() == world.clones[1].keys()
        world.answer(world.random.randrange(2))
        world.sync()
