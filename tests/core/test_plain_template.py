"""Plain templates: the same pages as jinja2 makes, without it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core import plain_template, templates
from ghp_agents.core.plain_template import NotPlainError
from tests.support.house import CHECKOUT

OURS = {
    name: (CHECKOUT / "templates" / name).read_text(encoding="utf-8")
    for name in ("handoff.md.j2", "pull.md.j2")
}
TEXTS = st.text(st.sampled_from("a{}%#-\n é"), max_size=8)
LINES = st.lists(TEXTS, max_size=3)
ISSUES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"line": TEXTS, "goal": TEXTS, "acceptance": TEXTS, "blockers": LINES, "comments": LINES}
    ),
)
HANDOFFS = st.fixed_dictionaries(
    {name: TEXTS for name in ("name", "title", "lead", "note", "words_by", "trunk", "work")}
    | {
        name: LINES
        for name in (
            *("steps", "questions", "answers", "branch", "commits", "files", "changes"),
            *("missing", "converted", "rights", "learnt", "ledger", "earlier", "notes"),
        )
    }
    | {
        "issue": ISSUES,
        "words": st.lists(st.fixed_dictionaries({"title": TEXTS, "lines": LINES}), max_size=2),
    }
)
PULLS = st.fixed_dictionaries(
    {name: TEXTS for name in ("what", "why", "evidence", "handoff", "questions", "closes")}
)


def by_jinja(text: str, values: Mapping[str, Any]) -> str:
    return templates.render("a.md.j2", values, own={"a.md.j2": text}.get)


@pytest.mark.slow
@given(HANDOFFS)
def test_a_handoff_is_the_page_that_jinja_makes(values: dict[str, Any]) -> None:
    text = OURS["handoff.md.j2"]
    assert plain_template.render(text, values) == by_jinja(text, values)


@given(PULLS)
def test_the_body_of_a_pull_request_is_the_page_that_jinja_makes(values: dict[str, Any]) -> None:
    text = OURS["pull.md.j2"]
    assert plain_template.render(text, values) == by_jinja(text, values)


@pytest.mark.parametrize(
    "text",
    [
        "{% for x in xs %}{{ loop.index }} {{ x.y }}, {% else %}none{% endfor %}.\n",
        "a  {% if yes %}  b\n  {% else %}c{% endif %}\n\nd\n",
        "  {#- A comment. -#}  \n\n{% if no %}\na\n{% else %}\nb\n{% endif %}\n",
        "{% for x in xs %}\n{% for z in x.z %}\n- {{ z }} {{ loop.index }}\n{% endfor %}\n"
        "{{ loop.index }}\n{% endfor %}",
        "{{ nothing }} {{ number }}",
    ],
)
def test_blocks_and_blanks_mean_what_they_mean_to_jinja(text: str) -> None:
    values = {
        "xs": [{"y": "one", "z": ["a", "b"]}, {"y": "two", "z": []}],
        "yes": True, "no": [], "nothing": None, "number": 12,
    }  # fmt: skip
    assert plain_template.render(text, values) == by_jinja(text, values)


@pytest.mark.parametrize(
    "text",
    [
        "{{ x | upper }}", "{{ f(x) }}", "{%- if x %}{% endif %}", "{% if not x %}{% endif %}",
        "{% include 'b.j2' %}", "{# a comment #}", "{% set y = x %}", "{{ unknown }}",
        "{{ x.unknown }}", "{% if x %}", "{% endif %}", "{% if x %}{% endfor %}", "{{x}}",
    ],
)  # fmt: skip
def test_all_else_is_left_to_jinja(text: str) -> None:
    with pytest.raises(NotPlainError):
        plain_template.render(text, {"x": "a", "f": str})
