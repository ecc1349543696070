"""The trace of the decision, as lines and as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ghp_agents.claims.choose_next import WORDS
from ghp_agents.claims.decision import ClaimRule
from ghp_agents.cli import output
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.core.ids import count, listed
from ghp_agents.hotpath.quoting import named
from ghp_agents.jobs.explain import AgentExplanation, IssueExplanation
from ghp_agents.jobs.explanation import OF_AGENT, SHOWN, Agent, RuleStep, Turn
from ghp_agents.jobs.job_state import JobState
from ghp_agents.jobs.room import Room, changes
from ghp_agents.presence import start_command
from ghp_agents.runs.explain import ReactionTrace
from ghp_agents.runs.reaction import MOST_TRIES

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.job import (
        AgentExplanationJson,
        IssueExplanationJson,
    )

Line = tuple[str, str]  # a mark and a text
MET, UNMET, PLAIN, NEXT = "✓", "✗", "", "→"
STATES = {JobState.REVIEW: "in review"}
COLOURS = {MET: "32", UNMET: "31"}


def show(mark: str, text: str) -> None:
    """Print a line."""
    if mark in COLOURS:
        output.marked(mark, COLOURS[mark], text)
    else:
        output.page(f"  {mark} {text}" if mark else text)


def issue_lines(explanation: IssueExplanation) -> Iterator[Line]:
    """The trace of an issue."""
    issue = explanation.issue
    state = STATES.get(explanation.state) or explanation.state.value.replace("_", " ")
    yield PLAIN, f"{issue_view.name(issue)} is {state}, priority {issue.priority}."
    if issue.state == "closed":
        yield UNMET, "It is closed."
        yield NEXT, f"ghp agent-issue reopen {issue.number}"
        return
    if not explanation.steps:
        yield UNMET, "Its title has not arrived in this clone."
        yield NEXT, "ghp agent-sync"
        return
    yield PLAIN, _verdict(explanation)
    if explanation.left and explanation.state is not JobState.REVIEW:
        holder = explanation.holder or explanation.left_by
        yield UNMET, _standing(named(holder), explanation.left)
        yield NEXT, explanation.starting
    for wait in explanation.pull:
        yield UNMET if wait.is_sent_back else PLAIN, wait.words
        yield NEXT, wait.change
    for step in explanation.steps:
        if not (explanation.holder and step.is_met):
            yield from _step_lines(step)
    if explanation.holder:
        return
    for turn in explanation.turns:
        yield from _turn_lines(turn, issue.number)
        room = explanation.rooms.get(turn.agent.candidate.name)
        if room and room.left < 1:
            yield from _room_lines(room, turn.agent.candidate.name)
    if explanation.left_out:
        yield PLAIN, f"And {explanation.left_out} more agents, which were not checked."
    if not (explanation.turns or explanation.left):
        yield UNMET, "No agent is alive."
        yield NEXT, explanation.starting


def _verdict(explanation: IssueExplanation) -> str:
    unmet = [step for step in explanation.steps if not step.is_met]
    who = named(explanation.holder, explanation.is_person)
    if explanation.holder and explanation.state is JobState.REVIEW:
        return f"{who} has finished it."
    if explanation.holder:
        verb = "has" if explanation.left else "works on"
        return f"{who} {verb} it."
    if unmet:
        rules = "one rule forbids" if len(unmet) == 1 else f"{len(unmet)} rules forbid"
        return f"Nobody works on it, because {rules} it."
    able = [turn for turn in explanation.turns if turn.can]
    if not able:
        return "Nobody works on it, because no agent can."
    first = able[0]
    name = first.agent.candidate.name
    nobody = "Nobody works on it." if explanation.left_by else "Nobody has claimed it."
    if first.before:
        return f"{nobody} {name} does {_before(first)} before it."
    return f"{nobody} It is the next issue for {name}."


def reaction_lines(trace: ReactionTrace) -> Iterator[Line]:
    """Why the agent of an issue is started again, or not."""
    name = named(trace.agent)
    for cause in trace.causes:
        yield UNMET, cause.words
        if not cause.starts:
            runs = count(cause.tried, "run")
            yield UNMET, f"{runs} tried to fix that, so a person decides."
        elif trace.is_supervised:
            yield MET, f"{name} is started again for it, try {cause.tried + 1} of {MOST_TRIES}."
    if trace.question:
        yield NEXT, f"ghp agent-answer {trace.question} TEXT"
    if trace.causes and not trace.is_supervised:
        yield UNMET, f"No `ghp agent-work` of this clone supervises {name}, so nothing is started."
        yield NEXT, f"ghp agent-work --agent {trace.agent}"


def _before(turn: Turn) -> str:
    rest = turn.more + len(turn.before[3:])
    return ", ".join(turn.before[:3]) + (f" and {rest} more" if rest else "")


def _step_lines(step: RuleStep) -> Iterator[Line]:
    yield (MET if step.is_met else UNMET), step.words
    if step.change:
        yield NEXT, step.change


def _turn_lines(turn: Turn, number: int) -> Iterator[Line]:
    name = turn.agent.candidate.name
    if turn.agent.told_to_stop:
        yield UNMET, f"{name} was told to stop."
        yield NEXT, f"ghp agent-stop {name} --undo"
    elif turn.agent.has_no_client:
        yield UNMET, _standing(name, turn.agent.words)
        yield NEXT, turn.agent.starting(number)
    own = [step for step in turn.steps if step.rule in OF_AGENT]
    for step in own:
        yield UNMET, f"{name} cannot claim it. {step.words}"
        yield NEXT, step.change
    if turn.can:
        order = f"after {_before(turn)}" if turn.before else "next"
        yield MET, f"{name} can claim it, {order}."
    elif not own and turn.agent.can_act:
        yield MET, f"{name} could claim it without the rules above."


def agent_lines(explanation: AgentExplanation) -> Iterator[Line]:
    """The trace of an agent."""
    name = explanation.agent.candidate.name
    agent = explanation.agent
    yield PLAIN, f"{_standing(name, agent.words)} {_next(explanation)}"
    yield from _own_lines(agent)
    yield from _room_lines(explanation.room, name, agent)
    for kept in explanation.kept_back:
        words = WORDS[kept.rule][0]
        if kept.rule in (ClaimRule.TAKEN, ClaimRule.ASSIGNED):
            words += " others"
        elif kept.rule is ClaimRule.UNABLE:
            words += " other capabilities"
        number = f"{count(len(kept.issues), 'issue')} {'is' if len(kept.issues) == 1 else 'are'}"
        yield UNMET, f"{number} {words}: {listed(kept.issues, SHOWN)}."
    if explanation.kept_back:
        yield NEXT, f"ghp agent-explain {explanation.kept_back[0].issues[0].removeprefix('#')}"


def _next(explanation: AgentExplanation) -> str:
    can = "can" if explanation.agent.can_act else "could"
    if explanation.next is None:
        return f"It {can} claim no {'other' if explanation.agent.holds else 'open'} issue."
    kind = "more" if explanation.agent.holds else "open"
    issues = count(explanation.workable, f"{kind} issue")
    return f"It {can} claim {issues}; the next is {issue_view.name(explanation.next)}."


def _standing(name: str, words: str) -> str:
    """Whether an agent is at work, as a sentence with its name."""
    is_subject = words.startswith("it ")
    return f"{name} {words.removeprefix('it ')}." if is_subject else f"{name}: {words}."


def _own_lines(agent: Agent) -> Iterator[Line]:
    name = agent.candidate.name
    if agent.is_alive and not agent.has_no_client:
        yield MET, "It is alive."
    else:
        yield UNMET, "No process works for it."
        if not agent.told_to_stop:
            held = (issue.removeprefix("#") for issue in agent.holds)
            yield NEXT, agent.starting(next(held, start_command.NEXT))
    if agent.told_to_stop:
        yield UNMET, "It was told to stop."
        yield NEXT, f"ghp agent-stop {name} --undo"
    else:
        yield MET, "Nobody told it to stop."
    yield MET, f"It has claimed {', '.join(agent.holds) or 'no issue'}."


def _room_lines(room: Room, name: str, agent: Agent | None = None) -> Iterator[Line]:
    """Whether a dispatch gives it more; `agent` is the only one that is explained."""
    if agent and agent.no_dispatch:
        yield UNMET, f"A dispatch gives it nothing: {agent.no_dispatch}."
        return
    if room.left > 0:
        yield MET, f"It has room: a dispatch may give it {count(room.left, 'more issue')}."
        return
    names, limit = listed(room.has, SHOWN), f"`agents.jobsPerAgent` is {room.most}"
    who = "It" if agent else name
    commands = changes(room, name)[:SHOWN]
    then = "" if commands else " It must finish work first."
    yield UNMET, f"{who} has no room for a dispatch: it has {names}, and {limit}.{then}"
    yield from ((NEXT, command) for command in commands)


def issue_fields(explanation: IssueExplanation, reacts: ReactionTrace) -> "IssueExplanationJson":
    """The explanation of an issue as JSON."""
    return {
        "issue": explanation.issue.number,
        "title": explanation.issue.title,
        "state": explanation.state.value,
        "holder": explanation.holder or None,
        "rules": explanation.steps,
        "agents": [
            {
                "agent": turn.agent.candidate.name,
                "canClaim": turn.can,
                "before": len(turn.before) + turn.more,
                "hasRoom": _has_room(explanation, turn),
                "rules": turn.steps,
            }
            for turn in explanation.turns
        ],
        "reactions": [
            {"cause": cause.key, "text": cause.words, "tried": cause.tried, "starts": cause.starts}
            for cause in reacts.causes
        ],
    }


def _has_room(explanation: IssueExplanation, turn: Turn) -> bool | None:
    room = explanation.rooms.get(turn.agent.candidate.name)
    return room.left > 0 if room else None


def agent_fields(explanation: AgentExplanation) -> "AgentExplanationJson":
    """The explanation of an agent as JSON."""
    return {
        "agent": explanation.agent.candidate.name,
        "liveness": explanation.agent.liveness,
        "clientEnded": explanation.agent.has_no_client,
        "toldToStop": explanation.agent.told_to_stop,
        "holds": [*explanation.agent.holds],
        "next": explanation.next.number if explanation.next else None,
        "canClaim": explanation.workable,
        "keptBack": explanation.kept_back,
        "room": {
            "issues": [*explanation.room.has],
            "limit": explanation.room.most,
            "changes": changes(explanation.room, explanation.agent.candidate.name),
        },
    }
