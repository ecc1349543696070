"""The sandbox of repositories' templates: what it renders, refuses and counts."""

import pytest
from jinja2 import TemplateSyntaxError, UndefinedError
from jinja2.exceptions import SecurityError

from ghp_agents.core.template_sandbox import CHARACTERS, LARGEST_NUMBER, STEPS, BoundedEnvironment


def given() -> str:
    """A function that the program hands to a template."""
    return "ours"


VALUES = {"words": ["b", "a"], "fields": {"k": 1}, "text": "x" * 1_000, "given": given}


def render(source: str, part: str = "part") -> str:
    pages = {"page": source, "part": part, "empty": ""}
    environment = BoundedEnvironment(lambda name: (pages[name], name, None))
    return environment.page("page", VALUES)


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("{{ words | sort | join(', ') }} {{ text[:2] ~ (1 + 2) }}", "a, b xx3"),
        ("{{ words | map('upper') | join('-') }}", "B-A"),
        ("{{ 'a-b'.split('-') | last }} {{ fields.get('k') }}", "b 1"),
        ("{{ 'a a' | replace('a', 'b') }}", "b b"),
        ("{% for n in range(2) %}{{ loop.index }}{{ loop.cycle('x', 'y') }}{% endfor %}", "1x2y"),
        ("{{ given() }} {% include 'part' %}", "ours part"),
        ("{% if 7 // 2 == 3 and -1 < 0 %}yes{% endif %}", "yes"),
    ],
)  # fmt: skip
def test_what_a_page_needs_is_rendered(source: str, page: str) -> None:
    assert render(source) == page


@pytest.mark.parametrize(
    "source",
    [
        "{% macro a() %}{% endmacro %}",
        "{% set words %}a{% endset %}",
        "{% block a %}{% endblock %}",
        "{% extends 'part' %}",
        "{% import 'part' as part %}",
        "{% from 'part' import a %}",
        "{% filter upper %}a{% endfilter %}",
        "{% call given() %}{% endcall %}",
        "{{ 2 ** 3 }}",
        "{% for word in words recursive %}{% endfor %}",
    ],
)
def test_a_construct_that_defines_or_repeats_is_refused(source: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="cannot be used like this here"):
        render(source)
    with pytest.raises(TemplateSyntaxError, match="cannot be used like this here"):
        render("{% include 'part' %}", part=source)


@pytest.mark.parametrize("name", ["pprint", "wordwrap", "center", "format", "indent", "xmlattr"])
def test_a_filter_that_is_not_on_the_list_does_not_exist(name: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="No filter named"):
        render(f"{{{{ text | {name} }}}}")


@pytest.mark.parametrize(
    "source",
    [
        "{{ given.__globals__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ words.append('c') }}",
        "{{ fields.update({}) }}",
        "{{ '{0.__class__}'.format(given) }}",
        "{{ text.center(9) }}",
        "{{ text.join(words) }}",
    ],
)
def test_no_call_or_attribute_leads_out_or_changes_a_value(source: str) -> None:
    with pytest.raises((SecurityError, UndefinedError)):
        render(source)
    assert VALUES["words"] == ["b", "a"]


@pytest.mark.parametrize(
    "sides", ["'a' * 9", "words + words", "'%9d' % 1", f"{LARGEST_NUMBER} * 10 * 1"]
)
def test_arithmetic_is_for_numbers_of_a_bounded_size(sides: str) -> None:
    with pytest.raises(SecurityError, match="is for numbers"):
        render(f"{{{{ {sides} }}}}")


@pytest.mark.parametrize(
    "source",
    [
        f"{{% for n in range({STEPS + 1}) %}}{{% endfor %}}",
        "{% for a in range(200) %}{% for b in range(200) %}{% endfor %}{% endfor %}",
        f"{{% for n in range({STEPS // 2 + 1}) %}}{{% include 'empty' %}}{{% endfor %}}",
        f"{{% for n in range({STEPS // 2 + 1}) %}}{{{{ given() }}}}{{% endfor %}}",
    ],
)
def test_loops_calls_and_inclusions_are_counted(source: str) -> None:
    with pytest.raises(SecurityError, match=f"more than {STEPS} steps"):
        render(source)


@pytest.mark.parametrize(
    "making",
    [
        "{{ text }}",
        "{% set made = text ~ '' %}",
        "{% set made = text | upper %}",
        "{% set made = text.upper() %}",
        "{% set made = text | replace('x', 'yy') %}",
        "{% set made = words | join(text) %}",
    ],
)
def test_characters_are_counted_wherever_they_are_made(making: str) -> None:
    loops = CHARACTERS // 1_000 + 1
    with pytest.raises(SecurityError, match=f"more than {CHARACTERS} characters"):
        render(f"{{% for n in range({loops}) %}}{making}{{% endfor %}}")


def test_a_replacement_is_counted_before_it_is_made() -> None:
    doubled = "{% set a = text | replace('x', text) %}"  # a million characters
    with pytest.raises(SecurityError, match="characters"):
        render(doubled + "{{ a | replace('x', a) }}")


def test_a_page_has_its_own_count() -> None:
    source = f"{{% for n in range({STEPS - 1}) %}}{{% endfor %}}"  # `range` is a step, too
    assert render(source) == render(source) == ""
