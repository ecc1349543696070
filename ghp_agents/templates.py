"""Templates: jinja2's one door. Ours can be replaced by `.ghp/templates/<name>` in a repository.

A repository's own template comes from whoever may write there, so it runs in a sandbox, reads
nothing outside of the repository, and names exactly what it uses.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ghp_agents.errors import GhpError

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

OVERRIDES = ".ghp/templates"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*\.j2")
# What an expression of a template can end in besides jinja2's own errors: `{{ 1 // 0 }}`.
_WRONG_EXPRESSIONS = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip


class TemplateError(GhpError):
    """A template that cannot be used."""


def render(name: str, values: Mapping[str, Any], *, repository: Path | None = None) -> str:
    """The text that the template `name` makes of `values`, as plain text: nothing is escaped.

    `repository` is the folder whose `.ghp/templates/` is asked first. Raises TemplateError, with
    the file and the line.
    """
    import jinja2

    environment = _environment(repository)
    try:
        return environment.get_template(name).render(values)
    except jinja2.TemplateNotFound as error:  # this one, or one that it includes
        raise _not_found(str(error.name), repository) from None
    except jinja2.TemplateSyntaxError as error:
        raise _wrong(error.filename or name, error.lineno, str(error.message)) from None
    except (jinja2.TemplateError, *_WRONG_EXPRESSIONS) as error:
        raise _wrong(*_place(error, repository, name), str(error)) from None


def render_folder(name: str, values: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a folder of our own templates, by their paths in it without `.j2`."""
    folder = shipped(Path(__file__).parent) / name
    environment = _environment(None)
    paths = sorted(path for path in folder.rglob("*.j2") if path.is_file())
    return {
        path.relative_to(folder).with_suffix("").as_posix(): environment.from_string(
            path.read_text(encoding="utf-8")
        ).render(values)
        for path in paths
    }


def find(name: str, repository: Path | None = None) -> Path | None:
    """The file of the template `name`: the repository's, else ours; None if there is neither.

    Raises TemplateError for a name or a link that leads elsewhere.
    """
    if not _NAME.fullmatch(name):
        raise TemplateError(
            f"{name[:80]!r} is not the name of a template.",
            hint="Use a-z, 0-9, '.', '_', '-', ending in `.j2`, without folders.",
        )
    if repository is not None:
        own = repository / OVERRIDES / name
        if own.is_file():
            _check_inside(own, repository)
            return own
    ours = shipped(Path(__file__).parent) / name
    return ours if ours.is_file() else None


def shipped(package: Path) -> Path:
    """The folder of our own templates: inside the package in a wheel, beside it in a checkout."""
    inside = package / "_templates"
    return inside if inside.is_dir() else package.parent / "templates"


def _environment(repository: Path | None) -> "SandboxedEnvironment":
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=FunctionLoader(lambda name: _load(name, repository)),
        undefined=StrictUndefined,
        autoescape=False,  # markdown, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _load(name: str, repository: Path | None) -> tuple[str, str, None] | None:
    path = find(name, repository)
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8"), str(path), None
    except UnicodeDecodeError as error:
        raise TemplateError(
            f"{path} is not UTF-8 text (byte {error.start}).", hint="Save it as UTF-8."
        ) from None
    except OSError as error:
        raise TemplateError(
            f"{path} cannot be read: {error.strerror}.", hint="Correct its permissions."
        ) from None


def _check_inside(own: Path, repository: Path) -> None:
    """What a template shows may be published: a link to `~/.ssh` must not be one."""
    if not own.resolve().is_relative_to(repository.resolve()):
        raise TemplateError(
            f"{own} is a link to a file outside of the repository.",
            hint="Put the template itself there.",
        )


def _place(error: BaseException, repository: Path | None, name: str) -> tuple[str, int]:
    """The template and the line that failed; jinja2 puts both into the traceback."""
    folders = [shipped(Path(__file__).parent)]
    folders += [repository / OVERRIDES] if repository else []
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
        hint="Correct the template; a repository's own can be removed to use ours again.",
    )


def _not_found(name: str, repository: Path | None) -> TemplateError:
    places = [repository / OVERRIDES] if repository else []
    places.append(shipped(Path(__file__).parent))
    return TemplateError(
        f"There is no template {name[:80]!r} in {' or '.join(map(str, places))}.",
        hint="Use a template of ours, or install ghp-agents again if one of those is missing.",
    )
