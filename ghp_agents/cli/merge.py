"""`agent-merge`: merge finished work into main, one pull request or the queue in batches."""

from functools import partial
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import acting, send, sending_last, sync_first
from ghp_agents.cli.terminal import signals
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import GhpError, UnapprovedError, UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.handoffs.returned import REASONS
from ghp_agents.hotpath.quoting import named
from ghp_agents.presence import service as presence
from ghp_agents.presence import start_command
from ghp_agents.presence.liveness import AgentView
from ghp_agents.presence.service import LIVING
from ghp_agents.pulls.merging import merge as services
from ghp_agents.pulls.merging import merge_queue
from ghp_agents.pulls.merging.merge import Enqueued, Merged, Outcome
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.merging.merge_trial import Merger
from ghp_agents.pulls.merging.send_back import SentBack
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.pull import (
        EnqueuedJson,
        MergedJson,
        MergeJson,
        PassedJson,
        SentBackJson,
    )


@click.command("agent-merge", epilog="Example: ghp agent-merge 12")
@click.argument("reference", metavar="[PR|ISSUE]", required=False, shell_complete=complete.pulls)
@click.option("--queue", is_flag=True, help="Merge all finished pull requests, oldest first.")
@click.option("--watch", is_flag=True, help="With --queue: keep merging until interrupted.")
@click.option(
    "--wait", metavar="SECONDS", type=click.FloatRange(min=0), default=0.0,
    help="Wait up to this long while another merge runs.",
)  # fmt: skip
@click.option("--unchecked", is_flag=True, help="Merge even if no checks are configured.")
@json_choice.option("Print the result of each as JSON.")
@acting
def merge(
    app: App,
    reference: str | None,
    queue: bool,
    watch: bool,
    wait: float,
    unchecked: bool,
    as_json: bool,
) -> None:
    """Test the merge result, merge it, and clean up.

    Without a name it merges the pull request of the current branch. If it conflicts or a check
    fails, it goes back to its agent; after two rounds, to a person. A pull request that the holder
    did not send with `agent-finish` needs a person and is not in the queue. Files that others lease
    are not merged; for an ordinary lease, a person gets only a warning. Prints the numbers of the
    merged pull requests.

    --queue checks several together and merges them at once. If that check fails, it finds the pull
    requests that fail. With --watch, --json prints one list for each round.
    """
    if queue and reference:
        raise UsageError("--queue cannot be used with a name.", hint="Remove the name or --queue.")
    if app.hub is None and app.place_without_token:
        from ghp_agents.github.tokenless.forge import refuse

        refuse(app.place_without_token, "merge")
    if watch and not queue:
        raise UsageError("--watch needs --queue.", hint="Run `ghp agent-merge --queue --watch`.")
    if queue and not watch:
        _hear(app)
    elif not queue:
        sync_first(app)
    merger = services.merger(
        app,
        cwd=app.cwd, tell=output.say, unchecked=unchecked,
    )  # fmt: skip
    if watch:
        _watch(app, merger, as_json=as_json)
        return
    done: list[Outcome | Passed] = []
    try:
        with signals.exit_on_signals(), output.busy("Merging"):
            if queue:
                for outcome in merge_queue.merge_queue(merger, patience=wait):
                    _say(outcome)
                    done.append(outcome)
            else:
                merging = partial(services.merge, merger, reference, patience=wait)
                done.append(remote_news.after_asking(app, merging, (UnapprovedError,)))
                _say(done[0])
    finally:
        _print(done, as_json=as_json, queue=queue)
        back = [outcome for outcome in done if isinstance(outcome, SentBack)]
        send(app, here=bool(done))  # others hear of the lock at once, so of the merge, too
    if queue and not done:
        output.say("No pull request is ready to be merged.")
    if back:
        raise _sent_back(app, back)


def _watch(app: App, merger: Merger, *, as_json: bool) -> None:
    """Serve the queue until interrupted; work that is sent back is not an error then."""

    def hear() -> None:
        app.store.sync(push=False)

    output.say("Merging what is finished; Ctrl-C ends this.")
    try:
        with sending_last(app), output.busy("Waiting for finished work"):
            for outcomes in merge_queue.watch_queue(merger, hear):
                for outcome in outcomes:
                    _say(outcome)
                if outcomes:
                    _print(outcomes, as_json=as_json, queue=True)
                    send(app, here=True)
    except KeyboardInterrupt:
        output.say("Stopped. What is in the queue stays there.")


def _hear(app: App) -> None:
    """Sync what others finished, and report how old that is."""
    with output.busy("Syncing"):
        report = app.store.sync(push=False)
    line = remote_news.age(app, app.store.sync_status())
    if report.trouble:
        output.warn(
            f"Could not ask {report.remote} for finished work: {report.trouble}",
            f"{line}; work finished since then is not in the queue.",
        )
    elif line:
        output.say(f"{line}.")


def _print(done: list[Outcome | Passed], *, as_json: bool, queue: bool) -> None:
    if as_json:
        output.as_json([_fields(outcome) for outcome in done])
        return
    for outcome in done:
        if isinstance(outcome, Merged) and not (queue and outcome.before):
            output.result(str(outcome.pull.number))


def _fields(outcome: Outcome | Passed) -> "MergedJson | SentBackJson | EnqueuedJson | PassedJson":
    pull = outcome.pull
    fields: MergeJson = {"number": pull.number, "branch": pull.branch, "issue": pull.issue}
    if isinstance(outcome, Merged):
        return {
            **fields, "outcome": "merged", "mergedAs": pull.merged_as, "already": outcome.before,
        }  # fmt: skip
    if isinstance(outcome, Enqueued):
        return {**fields, "outcome": "enqueued", "place": outcome.place or None}
    if isinstance(outcome, SentBack):
        return {
            **fields,
            "outcome": "returned",
            "reason": outcome.returned.reason,
            "round": outcome.round,
            "to": outcome.returned.agent,
            "escalation": outcome.escalation.name if outcome.escalation else None,
        }
    return {**fields, "outcome": "passed", "skipped": True, "why": outcome.why}


def _say(outcome: Outcome | Passed) -> None:
    if isinstance(outcome, Passed):
        number = f"#{outcome.pull.number}"
        named = "" if outcome.why.startswith(f"{number} ") else f" {number}"
        output.say(f"Skipped{named}: {outcome.why}")
        if outcome.hint:
            output.say(f"Hint: {outcome.hint}")
    elif isinstance(outcome, SentBack):
        _say_sent_back(outcome)
    elif isinstance(outcome, Enqueued):
        _say_enqueued(outcome)
    else:
        _say_merged(outcome)


def _say_merged(merged: Merged) -> None:
    pull = merged.pull
    for check in merged.checks:
        output.done(f"{check.line}.")
    commit = f" as {pull.merged_as[:12]}" if pull.merged_as else ""
    if merged.before:
        by = f", committed by {one_line(merged.by, 80)}" if merged.by else ""
        output.say(f"#{pull.number} is already on {pull.base}{commit}{by}.")
    else:
        output.done(f"Merged #{pull.number} ({pull.branch}) into {pull.base}{commit}.")
    if merged.issue:
        tell = output.say if merged.before else output.done
        tell(f"Closed {issue_view.name(merged.issue)}.")
    for warning in merged.warnings:
        output.warn(warning)
    for note in merged.notes:
        output.say(note)


def _say_enqueued(enqueued: Enqueued) -> None:
    number = enqueued.pull.number
    place = f", place {enqueued.place}" if enqueued.place else ""
    output.done(f"#{number} is in the merge queue of GitHub{place}: GitHub checks and merges it.")
    output.say(
        f"A later sync reports the result; `ghp agent-merge {number}` then cleans up. Do not push "
        "to its branch: a push removes it from the queue."
    )


def _say_sent_back(back: SentBack) -> None:
    returned = back.returned
    output.warn(
        f"Sent #{back.pull.number} back to {returned.agent}, round {back.round}: "
        f"{REASONS[returned.reason]}.\n{returned.text}"
    )
    if back.escalation:
        output.say(f"{back.escalation.name} asks a person how to continue.")
    for note in back.notes:
        output.warn(note)


def _sent_back(app: App, back: list[SentBack]) -> GhpError:
    views = {view.name: view for view in presence.list_agents(app, app.store.snapshot())}
    follows = dict.fromkeys(_next(app, sent, views.get(sent.returned.agent)) for sent in back)
    return GhpError(
        f"Not merged, but sent back: {', '.join(f'#{sent.pull.number}' for sent in back)}.",
        hint=f"{' '.join(follows)} Nothing of it is on main.",
    )


def _next(app: App, sent: SentBack, view: AgentView | None) -> str:
    """How its agent gets what was sent back: by its next step, or only if somebody starts it."""
    from ghp_agents.runs.explain import is_supervised

    agent, issue = sent.returned.agent, sent.pull.issue
    if is_supervised(app.ws, agent):
        return f"`ghp agent-work` starts {named(agent)} again."
    if view and not view.has_ended and view.liveness in LIVING:
        return f"{named(agent)} is notified at its next step."
    words = view.words if view else "it is not known here"
    command = start_command.of_agent(issue, agent, view.kind if view else "") if issue else ""
    return f"{named(agent)}: {words}." + (f" To continue: `{command}`." if command else "")
