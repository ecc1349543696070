"""What pages are made of comes from the trunk's commit, publishes no file, and ends."""

import time
from pathlib import Path

import pytest

from ghp_agents.core import templates
from ghp_agents.core.templates import TemplateError
from tests.support.consent import agree
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.handoffs import Station, begin_work, make_team
from tests.support.road import Road

HANDOFF = ".ghp/templates/handoff.md.j2"
PULL = ".github/pull_request_template.md"
SECRET = "s3cret-of-this-machine"


@pytest.fixture
def here(repo: Path) -> Station:
    """worker-1 on a branch of its own, beside files that hold a secret."""
    git(repo, "config", "http.https://example.com/.extraheader", SECRET)
    commit(repo, {".gitignore": ".env\n"})
    (repo / ".env").write_text(SECRET)
    (repo.parent / "outside").write_text(SECRET)
    begin_work(repo)
    return make_team().at(repo)


def on_trunk(repo: Path, link: str, target: str) -> None:
    """Commit a link on main."""
    branch = git(repo, "symbolic-ref", "--short", "HEAD")
    git(repo, "checkout", "--quiet", "main")
    (repo / link).parent.mkdir(parents=True, exist_ok=True)
    (repo / link).symlink_to(target)
    git(repo, "add", "--", link)
    git(repo, "commit", "--quiet", "--message", "A link")
    git(repo, "checkout", "--quiet", branch)
    git(repo, "checkout", "--quiet", "main", "--", link)


@pytest.mark.parametrize("target", ["../../.git/config", "../../.env", "../../../outside"])
def test_a_link_on_the_trunk_is_no_template_of_a_handoff(here: Station, target: str) -> None:
    on_trunk(here.folder, HANDOFF, target)
    assert (here.folder / HANDOFF).read_text().count(SECRET)
    document = here.hand_over(checkpoint=True).document
    assert SECRET not in document
    assert "## Next steps" in document  # of ours


def test_the_doctor_names_a_template_that_is_a_link(here: Station) -> None:
    on_trunk(here.folder, HANDOFF, "../../.git/config")
    done = invoke("agent-doctor", here.folder)
    said = f"{HANDOFF} on main is a link or a submodule, so it is not used."
    assert said in " ".join((done.out + done.err).split())


def test_a_submodule_is_no_template(here: Station) -> None:
    repo = here.folder
    tip = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{tip},{HANDOFF}")
    git(repo, "commit", "--quiet", "--message", "A submodule")
    git(repo, "branch", "--force", "main")
    assert "## Next steps" in here.hand_over(checkpoint=True).document


def test_what_is_only_in_the_worktree_or_on_a_branch_is_no_template(here: Station) -> None:
    commit(here.folder, {HANDOFF: "from a branch\n"})
    (here.folder / HANDOFF).write_text("from the worktree\n")
    document = here.hand_over(checkpoint=True).document
    assert "from a" not in document
    assert "## Next steps" in document


def test_where_there_is_no_trunk_ours_is_used(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "elsewhere", "new")
    (tmp_path / "new/.ghp/templates").mkdir(parents=True)
    (tmp_path / "new" / HANDOFF).write_text("from the worktree\n")
    document = make_team().at(tmp_path / "new").hand_over(checkpoint=True).document
    assert "## Next steps" in document


@pytest.mark.slow
def test_a_template_of_the_trunk_counts(here: Station) -> None:
    git(here.folder, "checkout", "--quiet", "main")
    commit(here.folder, {HANDOFF: "ours: {{ name }}\n"})
    assert "\nours: H-" not in here.hand_over(checkpoint=True).document, "nobody agreed to it"
    agree(here.folder)
    git(here.folder, "checkout", "--quiet", "-")
    assert "\nours: H-" in here.hand_over(checkpoint=True).document


@pytest.mark.slow
def test_a_link_is_no_template_of_a_pull_request(repo: Path) -> None:
    commit(repo, {".gitignore": ".env\n.ghp/\n"})
    (repo / ".env").write_text(f"# What\n{SECRET}\n")
    road = Road(repo)
    road.issue("Parse files", body="")
    (repo / PULL).parent.mkdir()
    (repo / PULL).symlink_to("../.env")
    git(repo, "add", "--", PULL)
    git(repo, "commit", "--quiet", "--message", "A link")
    place = road.start("worker-1").path
    (place / ".env").write_text(f"# What\n{SECRET}\n")
    commit(place, {"a.txt": "one\n"}, "Parse one file")
    body = road.finish("worker-1", place).pull.body
    assert SECRET not in body
    assert body.startswith("## What\n")


# ------------------------------------------------------------------------------- the sandbox


ESCAPES = (
    "{{ ''.__class__.__mro__ }}", "{{ values.__globals__ }}", "{{ '{0.__class__}'.format(1) }}",
    "{{ [].__class__.__base__.__subclasses__() }}", "{{ self._TemplateReference__context }}",
    "{{ cycler.__init__.__globals__ }}", "{{ lipsum.__globals__.os.popen('id').read() }}",
    "{{ namespace.__init__.__globals__ }}", "{{ words|attr('__class__') }}",
    "{{ words|map(attribute='__class__')|list|first() }}{{ words.__class__ }}",
    "{{ words.append('x') }}", "{{ words.pop() }}", "{{ values.clear() }}",
    "{{ ''['__class__'].mro() }}", "{{ config.items() }}", "{{ loop.__class__ }}",
    "{% include '/etc/passwd' %}", "{% include '../../.git/config' %}", "{% include '.env' %}",
    "{% import 'x.md.j2' as x %}", "{% extends '/etc/passwd' %}",
    "{% from 'os' import system %}", "{{ open('/etc/passwd').read() }}",
    "{% set x = words.__init__.__globals__ %}{{ x }}",
)  # fmt: skip


@pytest.mark.parametrize("source", ESCAPES)
def test_no_template_gets_out_of_its_sandbox(source: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render(source, words=["a"], values={"b": 1})
    assert caught.value.hint


ENDLESS = {
    "nested loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "a text times a number": "{{ ('a' * 1000000000)|length }}",
    "a power": "{{ 10 ** 100000000 }}",
    "a text doubled": "{% set a = 'aaaaaaaa' %}" + "{% set a = a ~ a %}" * 40 + "{{ a|length }}",
    "a wide format": "{{ ('%1000000000d' % 1)|length }}",
    "a wide format by a method": "{{ '{:1000000000}'.format(1)|length }}",
    "a method that fills": "{{ 'x'.ljust(1000000000)|length }}",
    "a filter that fills": "{{ ('x'|center(1000000000))|length }}",
    "a long join": "{{ (range(99999)|join('a' ~ x))|length }}",
    "a long replacement": "{{ (x|replace('', x))|length }}",
    "words of no meaning": "{{ lipsum(99999)|length }}",
    "a macro that calls itself twice": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}"
    "{% endif %}{% endmacro %}{{ f(60) }}",
    "a recursive loop": "{% for a in x recursive %}{{ loop(x) }}{{ loop(x) }}{% endfor %}",
    "itself": "{% include 'a.md.j2' %}",
    "others, twice each": "{% include 'b1.md.j2' %}",
    "many brackets": "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
    "many conditions": "{% if x %}" * 2_000 + "{% endif %}" * 2_000,
    "many loops in one another": "{% for a in x %}" * 30 + "{% endfor %}" * 30,
    "a long page": "{% for a in range(9999) %}{{ x }}{% endfor %}",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_template_that_would_go_on_or_grow_for_ever_is_an_error(kind: str) -> None:
    deep = {f"b{n}.md.j2": f"{{% include 'b{n + 1}.md.j2' %}}" * 2 for n in range(1, 40)}
    began = time.process_time()
    with pytest.raises(TemplateError) as caught:
        render(ENDLESS[kind], {**deep, "b40.md.j2": ""}, x="a" * 50_000)
    assert time.process_time() - began < 2
    assert caught.value.hint
    assert len(str(caught.value)) < 500


def test_what_a_page_needs_a_template_can_say() -> None:
    source = (
        "{% for word in words if word %}{{ loop.index + 1 }}/{{ loop.length }} {{ word|upper }}"
        "{% if not loop.last %}, {% endif %}{% else %}none{% endfor %}\n"
        "{% set first = words|first|default('?') %}{{ first ~ '!' }} {{ words|join(' and ') }}\n"
        "{{ 'one,two'.split(',')|map('title')|list|length * 2 }} {{ mark('a') }}"
    )
    made = render(source, words=["a", "b"], mark=lambda word: f"<{word}>")
    assert made == "2/2 A, 3/2 Ba! a and b\n4 <a>"


def render(source: str, others: dict[str, str] | None = None, **values: object) -> str:
    """A page by the repository's own template."""
    own = {"a.md.j2": source, **(others or {})}
    return templates.render("a.md.j2", values, own=own.get)


def test_a_filled_template_takes_time_in_proportion_to_it() -> None:
    from ghp_agents.pulls import body_template as pull_body

    sections = [pull_body.TemplateSection("what", "What", "It parses.")]
    size = 65_536
    for text in ("<!--", "<!-- ", "-->", "# ", "#", "# a ", "```", "---\n", "\n"):
        began = time.process_time()
        pull_body.filled((text * size)[:size] + "b", sections)
        assert time.process_time() - began < 0.25, text[:5]


def test_a_template_that_is_no_text_or_too_long_says_so(here: Station) -> None:
    git(here.folder, "checkout", "--quiet", "main")
    for content, why in (
        (b"ab\xff", "is not UTF-8 text (byte 2)"),
        (b"a" * 100_001, "has more than 100000 bytes"),
    ):
        commit(here.folder, {HANDOFF: content})
        with pytest.raises(TemplateError) as caught:
            make_team().at(here.folder).hand_over(checkpoint=True)
        assert str(caught.value) == f"{HANDOFF} on main {why}."
