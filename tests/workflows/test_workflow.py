"""Workflow files: what they say, and what is wrong with those that cannot be used."""

import pytest

from ghp_agents.workflows import files
from ghp_agents.workflows.workflow import Workflow, WorkflowStep, fill, parse

WHOLE = """---
name: release
description: Two agents look, a person decides.
topic: code.completed
when: requestReview
label: needs-release
---

# Text for people is no step

## Look at it

- Kind: review
- Role: review
- Within: 2h

{starter} asks about {subject}:

{text}

## Try it

- Role: @all
- After: start
- Gate: vote @capability:tests

Try {issue}.

## Mend it

- Role: author
- After: Look at it
- Only if: changes
- Output: the commit

{look-at-it}

```
## No step
```

## Decide

- After: Mend it, Try it
- Gate: approval
"""


def test_a_file_has_what_starts_it_and_its_steps() -> None:
    text = "{starter} asks about {subject}:\n\n{text}"
    assert parse(WHOLE.encode(), "release") == Workflow(
        "release", "Two agents look, a person decides.", "code.completed", "requestReview",
        "needs-release",
        (
            WorkflowStep("look-at-it", "Look at it", "@capability:review", "review", within=7200,
                 prompt=text),
            WorkflowStep("try-it", "Try it", "@all", gate="vote", voters="@capability:tests",
                 prompt="Try {issue}."),
            WorkflowStep("mend-it", "Mend it", "author", after=("look-at-it",), only_if="changes",
                 output="the commit", prompt="{look-at-it}\n\n```\n## No step\n```"),
            WorkflowStep("decide", "Decide", after=("mend-it", "try-it"), gate="approval"),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("topic: code.completed", "event: push", "its front matter has the unknown field 'event'"),
        ("name: release", "name: other", "its name is not that of its file, in a-z, 0-9 and '-'"),
        ("topic: code.completed", "", "`when` is about the payload of a `topic`, which is missing"),
        ("- Role: @all", "- Roll: @all", "step 'Try it': 'roll' is not a field of a step"),
        ("- Role: @all", "- Role: a b", "step 'Try it': '@capability:a b' is not a group"),
        ("Gate: approval", "Gate: luck",
         "step 'Decide': `Gate` must be one of approval, checks, parts, vote"),
        ("- Gate: approval", "", "step 'Decide': it has neither a `Role` nor a `Gate`"),
        ("After: Mend it,", "After: Sleep,", "`After` names 'sleep', which is not a step above it"),
        ("{issue}", "{isue}",
         "there is no value {isue}; the values are subject, text, issue, starter"),
        ("Within: 2h", "Within: soon", "step 'Look at it': not a duration: 'soon'"),
        ("## Decide", "## Try it", "step 'Try it': its name is empty, or is taken"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_says_where_and_why(before: str, after: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared below
        parse(WHOLE.replace(before, after, 1).encode(), "release")
    assert reason in str(caught.value)


def test_a_file_without_steps_and_a_huge_one_are_refused() -> None:
    with pytest.raises(ValueError, match="it has 0 steps; a step is a heading `## Name`"):
        parse(b"---\nname: a\n---\n# A\n", "a")
    with pytest.raises(ValueError, match="it has more than 100000 bytes"):
        parse(b"x" * 100_001, "a")


def test_a_value_alone_on_its_line_becomes_its_block() -> None:
    values = {"subject": ("«Tabs»", "> Tabs"), "text": ("«»", "")}
    assert fill("About {subject}:\n  {subject}", values) == "About «Tabs»:\n> Tabs"
    assert fill("About:\n\n{text}\n\nLook.", values) == "About:\n\nLook."


def test_every_workflow_that_comes_with_the_program_can_be_read() -> None:
    for name, text in files._shipped().items():
        workflow = parse(text.encode(), name, is_shipped=True)
        assert workflow.description
        assert workflow.steps
