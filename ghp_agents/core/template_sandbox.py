"""Jinja2's sandbox with an end: whatever a template says, it is rendered soon, or refused.

There are loops over what there is, and nothing that a template can define: no macro, no recursion.
Each step of a loop, each call and each text that is made counts.
"""

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, TemplateSyntaxError, Undefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import pass_context
from jinja2.visitor import NodeTransformer

STEPS = 20_000  # of loops, calls and inclusions
CHARACTERS = 4_000_000  # of all texts that are made on the way, and of the page
LARGEST_NUMBER = 10**15

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Include,
    nodes.Assign, nodes.With, nodes.Name, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict,
    nodes.Pair, nodes.Keyword, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Call, nodes.Filter,
    nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
    nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod,
    nodes.Concat,
)  # fmt: skip
# None of them makes more than it is given; what `join` and `replace` make is counted beforehand.
_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float",
    "groupby", "int", "items", "last", "length", "list", "lower", "map", "max", "min", "reject",
    "rejectattr", "reverse", "select", "selectattr", "sort", "string", "title", "trim", "truncate",
    "unique", "upper", "wordcount",
)  # fmt: skip
_METHODS = frozenset(
    (
        *("strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "startswith"),
        *("endswith", "split", "rsplit", "splitlines", "find", "count", "index"),
        *("removeprefix", "removesuffix", "items", "keys", "values", "get"),
    )
)
_STEPS, _STEP, _JOINED = "steps of a loop", "one step", "joined"  # no template can name these


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """An environment for one page. What a template must not do is a SecurityError."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, load: Callable[[str], tuple[str, str, None] | None]) -> None:
        super().__init__(
            loader=FunctionLoader(load),
            undefined=StrictUndefined,
            autoescape=False,  # markdown, not HTML
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._steps, self._characters = STEPS, CHARACTERS
        self.code_generator_class = _Generator
        self.globals = {"range": self.globals["range"]}
        self.filters = {name: self._counted(self.filters[name]) for name in _FILTERS} | {
            "join": self._join,
            "replace": self._replace,
            _STEPS: self._each,
            _STEP: self._once,
            _JOINED: self._joined,
        }

    def page(self, name: str, values: dict[str, Any]) -> str:
        """What the template `name` makes of `values`."""
        parts: list[str] = []
        for part in self.get_template(name).generate(values):
            self.make(len(part))
            parts.append(part)
        return "".join(parts)

    def step(self) -> None:
        """Count a step. Raises SecurityError after the last."""
        self._steps -= 1
        if self._steps < 0:
            raise SecurityError(f"it takes more than {STEPS} steps")

    def make(self, characters: int) -> None:
        """Count characters, before they are made where that can be. Raises SecurityError."""
        self._characters -= characters
        if self._characters < 0:
            raise SecurityError(f"it makes more than {CHARACTERS} characters")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Numbers are calculated with; texts and lists could grow."""
        for side in (left, right):
            if not isinstance(side, int | float) or abs(side) > LARGEST_NUMBER:
                raise SecurityError(f"`{operator}` is for numbers; `~` joins texts")
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call what a page is given, `range`, or a method that makes nothing large."""
        __self.step()
        if not isinstance(__obj, Undefined):
            __self._check(getattr(__obj, "__wrapped__", __obj))
        return super().call(__context, __obj, *args, **kwargs)

    def _check(self, called: Any) -> None:
        owner = getattr(called, "__self__", None)
        if isinstance(called, types.BuiltinMethodType) and called.__name__ in _METHODS:
            self.make(_size(owner))
        elif not isinstance(called, types.FunctionType) and not isinstance(owner, LoopContext):
            name = getattr(called, "__name__", type(called).__name__)
            raise SecurityError(f"`{name}` cannot be called")

    def _counted(self, made: Callable[..., Any]) -> Callable[..., Any]:
        """A filter whose input and output count."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.make(sum(map(_size, args)))
            result = made(*args, **kwargs)
            self.make(_size(result))
            return result

        counted.__dict__.update(getattr(made, "__dict__", {}))  # whether it is given the context
        return counted

    @pass_context
    def _each(self, _: Context, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.step()
            yield value

    @pass_context
    def _once(self, _: Context, value: Any) -> Any:
        self.step()
        return value

    @pass_context
    def _joined(self, _: Context, values: list[Any]) -> str:
        return self._join(values)

    def _join(self, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
        found = list(value)
        if attribute is not None:
            found = [self.getitem(each, attribute) for each in found]
        self.make(sum(map(_size, found)) + len(found) * _size(d))
        texts = [str(each) for each in found]
        self.make(sum(map(len, texts)))
        return str(d).join(texts)

    def _replace(self, text: Any, old: str, new: str, count: int = -1) -> str:
        whole = str(text)
        self.make(len(whole) + (whole.count(old) if count < 0 else count) * len(new))
        return whole.replace(old, new, count)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict | range) else 1


class _Bounds(NodeTransformer):
    """Refuse what has no end, and count the rest."""

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        if type(node) not in _ALLOWED or (isinstance(node, nodes.For) and node.recursive):
            what = type(node).__name__.lower()
            raise TemplateSyntaxError(f"`{what}` cannot be used like this here", node.lineno)
        return super().visit(node, *args, **kwargs)

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.iter = _filtered(node.iter, _STEPS)
        return node

    def visit_Include(self, node: nodes.Include) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.template = _filtered(node.template, _STEP)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), _JOINED)


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Generator(CodeGenerator):
    """Makes Python of what the bounds left."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        bounded = _Bounds().visit(node)
        bounded.set_environment(self.environment)
        super().visit_Template(bounded, frame)
