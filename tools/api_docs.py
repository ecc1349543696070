"""Writes docs/API.md, the Python API and the types that it returns: part of `make docs`."""

import inspect
import re
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from ghp_agents import api

PAGE = Path(__file__).parents[1] / "docs/API.md"
_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])")  # the modules before a name
BAR = "\\|"  # in a table
_FORWARD = re.compile(r"ForwardRef\('([^']*)'[^)]*\)")


def main() -> None:
    """Update the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole of docs/API.md."""
    summary, _, example = _text(api).partition("\n\n")
    methods = [member for name, member in vars(api.Project).items() if not name.startswith("_")]
    described = "\n\n".join(_function("###", method) for method in methods)
    types = "\n\n".join(_type(each) for each in types_of(api.connect, *methods))
    return f"""# Python API

{summary} `make docs` writes this page from the docstrings of `ghp_agents.api`.

```python
{example}
```

{_function("##", api.connect)}

## `Project`

{_text(api.Project)}

{described}

## Types

{types}
"""


def types_of(*functions: Callable[..., Any]) -> list[type]:
    """The types of this program in the signatures, by name."""
    found: dict[str, type] = {}
    waiting = [hint for each in functions for hint in typing.get_type_hints(each).values()]
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and hint.__module__.startswith("ghp_agents."):
            found[hint.__name__] = hint
    return [found[name] for name in sorted(found) if name != api.Project.__name__]


def fields(of: type) -> Iterator[tuple[str, str]]:
    """The public fields of a record, with their types as text."""
    for name, marked in inspect.get_annotations(of).items():
        # What JSON does with a field is no part of its type.
        hint = typing.get_args(marked)[0] if hasattr(marked, "__metadata__") else marked
        if not name.startswith("_"):
            text = _shown(_FORWARD.sub(r"\1", inspect.formatannotation(hint)))
            yield name, re.sub(r"\bOptional\[([^][]+)\]", r"\1 | None", text)


def _function(mark: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    own = [each for name, each in signature.parameters.items() if name != "self"]
    text = _shown(str(signature.replace(parameters=own)))
    code = f"```python\n{function.__name__}{text}\n```"
    return f"{mark} `{function.__name__}`\n\n{code}\n\n{_text(function)}"


def _type(of: type) -> str:
    parts = [f"### `{of.__name__}`", _text(of)]
    if issubclass(of, Enum):
        parts.append(", ".join(f"`{each.value}`" for each in of) + ".")
    elif rows := [
        f"| `{name}` | `{hint}` |".replace(" | None", " \\| None") for name, hint in fields(of)
    ]:
        parts.append("\n".join(["| field | type |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _row(name: str, hint: str) -> str:
    return f"| `{name}` | `{hint.replace('|', BAR)}` |"


def _shown(text: str) -> str:
    """A signature without the modules of its types and without quotation marks around them."""
    return _MODULE.sub("", text).replace("'Project'", "Project")


def _text(documented: Any) -> str:
    text = inspect.getdoc(documented)
    assert text, f"{documented} has no docstring"
    return text


if __name__ == "__main__":
    main()
