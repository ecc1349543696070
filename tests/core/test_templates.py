"""Templates: found in a wheel and in a checkout, replaced by a repository's own, in a sandbox."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.core import templates
from ghp_agents.core.templates import OVERRIDES, TemplateError

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def own() -> dict[str, str]:
    """A repository's own templates."""
    return {}


def render(own: dict[str, str], source: str, **values: object) -> str:
    own["a.md.j2"] = source
    return templates.render("a.md.j2", values, own=own.get)


def failure(own: dict[str, str], source: str, **values: object) -> str:
    with pytest.raises(TemplateError) as caught:
        render(own, source, **values)
    assert caught.value.hint
    return str(caught.value).replace(f"{OVERRIDES}/", "")


def test_values_arrive_as_plain_text_and_are_never_read_as_a_template(own: dict[str, str]) -> None:
    hostile = "<b>&amp; {{ 7 * 7 }} {% include 'b.j2' %} {0.__class__} %s"
    assert render(own, "# {{ title }}\n", title=hostile) == f"# {hostile}\n"


def test_a_block_alone_on_its_line_leaves_no_empty_line(own: dict[str, str]) -> None:
    source = "# A\n  {% for word in words %}\n- {{ word }}\n  {% endfor %}\nend\n"
    assert render(own, source, words=["x", "y"]) == "# A\n- x\n- y\nend\n"


@pytest.mark.slow
def test_a_repository_replaces_a_template_of_ours(tmp_path: Path) -> None:
    package = tmp_path / "installed/ghp_agents"
    shutil.copytree(CHECKOUT / "ghp_agents", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_templates").mkdir()
    (package / "_templates/a.md.j2").write_text("ours, {{ x }}\n")
    script = (
        "import sys; from ghp_agents.core import templates;"
        "own = dict(zip(('a.md.j2',), sys.argv[1:]));"
        "print(end=templates.render('a.md.j2', {'x': 1}, own=own.get))"
    )
    command = [sys.executable, "-c", script]
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    assert subprocess.check_output(command, env=env, cwd=tmp_path) == b"ours, 1\n"
    command.append("theirs, {{ x }}\n")
    assert subprocess.check_output(command, env=env, cwd=tmp_path) == b"theirs, 1\n"


def test_a_template_may_include_another_of_either_place(own: dict[str, str]) -> None:
    own["part.md.j2"] = "part of {{ whole }}\n"
    assert render(own, "{% include 'part.md.j2' %}", whole="a") == "part of a\n"


def test_our_templates_are_inside_the_package_in_a_wheel_and_beside_it_in_a_checkout(
    tmp_path: Path,
) -> None:
    package = tmp_path / "ghp_agents"
    assert templates.shipped(package) == tmp_path / "templates"
    (package / "_templates").mkdir(parents=True)
    assert templates.shipped(package) == package / "_templates"


def test_a_value_that_the_template_names_and_nobody_gave_is_an_error(own: dict[str, str]) -> None:
    message = failure(own, "# A\n\n{{ titel }}\n", title="A")
    assert message == "a.md.j2, line 3: 'titel' is undefined."


def test_an_error_of_syntax_names_the_file_and_the_line(own: dict[str, str]) -> None:
    message = failure(own, "# A\n{% for x in %}\n")
    assert message.startswith("a.md.j2, line 2: ")


def test_an_error_in_an_included_template_names_that_one(own: dict[str, str]) -> None:
    own["part.md.j2"] = "\n{{ missing }}\n"
    message = failure(own, "{% include 'part.md.j2' %}")
    assert message == "part.md.j2, line 2: 'missing' is undefined."
    own["part.md.j2"] = "\n{% if %}\n"
    assert failure(own, "{% include 'part.md.j2' %}").startswith("part.md.j2, line 2: ")


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ 1 // 0 }}",
        "{% include 'a.md.j2' %}",
        "{{ '%d' % 'x' }}",
        "{{ words['a':'b'] }}",
    ],
)
def test_what_a_template_must_not_or_cannot_do_is_an_error_with_its_line(
    own: dict[str, str], source: str
) -> None:
    message = failure(own, f"\n{source}\n", words=["a"])
    assert message.startswith("a.md.j2, line 2: ")


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "a", "a.md", ".j2", "x/a.j2", "a..j2", "a\n.j2", "A.j2"],
)
def test_a_name_cannot_lead_out_of_the_folders(own: dict[str, str], name: str) -> None:
    with pytest.raises(TemplateError, match="is not a valid template name"):
        templates.render(name, {}, own=own.get)


def test_a_template_that_is_not_there_says_so(own: dict[str, str]) -> None:
    with pytest.raises(TemplateError, match=r"There is no template 'none\.j2' in "):
        templates.render("none.j2", {}, own=own.get)
    assert failure(own, "{% include 'none.j2' %}").startswith("There is no template 'none.j2' in ")


def test_a_folder_of_ours_is_rendered_whole_by_paths_without_the_ending(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "_templates/plugin"
    (folder / "a/B").mkdir(parents=True)
    (folder / "top.md.j2").write_text("{{ x }}\n")
    (folder / "a/B/C.j2").write_text("{% if x %}\nC\n{% endif %}\n")
    (folder / "notes.txt").write_text("not a template")
    monkeypatch.setattr(templates, "__file__", str(tmp_path / "core/templates.py"))
    assert templates.render_folder("plugin", {"x": "é <b>"}) == {
        "a/B/C": "C\n",
        "top.md": "é <b>\n",
    }


def test_jinja2_is_imported_only_when_something_is_rendered() -> None:
    script = "import sys, ghp_agents.core.templates; print('jinja2' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True)
    assert done.stdout == b"False\n"
