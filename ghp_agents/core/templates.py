"""Templates, rendered by jinja2 (imported only here). A repository can override ours by
`.ghp/templates/<name>`.

Anyone with write access can change such a template. So it runs in a bounded sandbox, reads no file,
and must name exactly what it uses. Our own plain ones are rendered without jinja2.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ghp_agents.core import plain_template
from ghp_agents.core.errors import GhpError

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

OVERRIDES = ".ghp/templates"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*\.j2")
# Errors that a template's expression can raise besides jinja2's own: `{{ 1 // 0 }}`.
_WRONG_EXPRESSIONS = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, SyntaxError,
    TypeError, ValueError,
)  # fmt: skip

Own = Callable[[str], str | None]  # the text of a repository's own template, by its name


class TemplateError(GhpError):
    """A template that cannot be used."""


def none(_: str) -> None:
    """For a repository without own templates."""


def render(name: str, values: Mapping[str, Any], *, own: Own = none) -> str:
    """Render the template `name` with `values` as plain text; nothing is escaped.

    `own` returns the repository's templates, which override ours. Raises TemplateError with file
    and line.
    """
    own = cache(own)  # each asks git
    ours = _load(name, own) if own(name) is None else None
    if ours:
        with suppress(plain_template.NotPlainError):
            return plain_template.render(ours[0], values)
    return _by_jinja(name, values, own)


def _by_jinja(name: str, values: Mapping[str, Any], own: Own) -> str:
    import jinja2

    from ghp_agents.core.template_sandbox import BoundedEnvironment

    environment = BoundedEnvironment(lambda wanted: _load(wanted, own))
    try:
        return environment.page(name, dict(values))
    except jinja2.TemplateNotFound as error:  # this template, or one that it includes
        raise _not_found(str(error.name)) from None
    except jinja2.TemplateSyntaxError as error:
        raise _wrong(error.filename or name, error.lineno, str(error.message)) from None
    except (jinja2.TemplateError, *_WRONG_EXPRESSIONS) as error:
        raise _wrong(*_place(error, name), str(error) or type(error).__name__) from None


def render_folder(name: str, values: Mapping[str, Any]) -> dict[str, str]:
    """Render a folder of our own templates: texts by their relative paths without `.j2`."""
    folder = shipped(Path(__file__).parents[1]) / name
    environment = _environment()
    paths = sorted(path for path in folder.rglob("*.j2") if path.is_file())
    return {
        path.relative_to(folder).with_suffix("").as_posix(): environment.from_string(
            path.read_text(encoding="utf-8")
        ).render(values)
        for path in paths
    }


def shipped(package: Path) -> Path:
    """The folder of our own templates: inside the package in a wheel, next to it in a checkout."""
    inside = package / "_templates"
    return inside if inside.is_dir() else package.parent / "templates"


def _environment() -> "SandboxedEnvironment":
    """For our own templates that cannot be overridden."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _load(name: str, own: Own) -> tuple[str, str, None] | None:
    """The template `name` with its file: the repository's, else ours; None if there is neither."""
    if not _NAME.fullmatch(name):
        raise TemplateError(
            f"{name[:80]!r} is not a valid template name.",
            hint="Use a-z, 0-9, '.', '_', '-', ending in `.j2`, without folders.",
        )
    text = own(name)
    if text is not None:
        return text, f"{OVERRIDES}/{name}", None
    path = shipped(Path(__file__).parents[1]) / name
    return (path.read_text(encoding="utf-8"), str(path), None) if path.is_file() else None


def _place(error: BaseException, name: str) -> tuple[str, int]:
    """The template and line that failed, from the traceback, where jinja2 puts both."""
    folders = [shipped(Path(__file__).parents[1]), Path(OVERRIDES)]
    file, line = name, 0
    step = error.__traceback__
    while step is not None:
        code_file = Path(step.tb_frame.f_code.co_filename)
        if code_file.parent in folders and code_file.suffix == ".j2":
            file, line = str(code_file), step.tb_lineno
        step = step.tb_next
    return file, line


def _wrong(file: str, line: int, reason: str) -> TemplateError:
    return TemplateError(
        f"{file}, line {line}: {reason[:300].rstrip('.')}.",
        hint="Fix it on main, or remove it to use the built-in template.",
    )


def _not_found(name: str) -> TemplateError:
    places = f"{OVERRIDES} or {shipped(Path(__file__).parents[1])}"
    return TemplateError(
        f"There is no template {name[:80]!r} in {places}.",
        hint="Use a built-in template. If one of those is missing, install ghp-agents again.",
    )
