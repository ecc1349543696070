"""Jinja2's sandbox with limits: any template is rendered quickly or refused.

Templates can loop over given values but define nothing: no macros, no recursion. Loop steps, calls
and produced characters are counted.
"""

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import (
    BytecodeCache,
    FunctionLoader,
    StrictUndefined,
    TemplateSyntaxError,
    Undefined,
    nodes,
)
from jinja2.bccache import Bucket
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import pass_context
from jinja2.visitor import NodeTransformer

STEPS = 20_000  # of loops, calls and inclusions
CHARACTERS = 4_000_000  # of the page and of all intermediate texts
LARGEST_NUMBER = 10**15

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Include,
    nodes.Assign, nodes.With, nodes.Name, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict,
    nodes.Pair, nodes.Keyword, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Call, nodes.Filter,
    nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
    nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod,
    nodes.Concat,
)  # fmt: skip
# None of them produces more than its input, except `join` and `replace`, which count beforehand.
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
_STEPS, _STEP, _JOINED = "steps of a loop", "one step", "joined"  # no template can use these names


class _Compiled(BytecodeCache):
    """Keeps compiled templates while the process runs: compiling takes most of a rendering."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], types.CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take the code of the same name and text, if any."""
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep new code."""
        if bucket.code:
            self._code[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """An environment for one page. Forbidden operations raise SecurityError."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, load: Callable[[str], tuple[str, str, None] | None]) -> None:
        super().__init__(
            loader=FunctionLoader(load),
            bytecode_cache=_COMPILED,
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
            _STEPS: self._count_steps,
            _STEP: self._count_step,
            _JOINED: self._join_list,
        }

    def page(self, name: str, values: dict[str, Any]) -> str:
        """Render the template `name` with `values`."""
        parts: list[str] = []
        for part in self.get_template(name).generate(values):
            self.make(len(part))
            parts.append(part)
        return "".join(parts)

    def step(self) -> None:
        """Count a step. Raises SecurityError beyond the limit."""
        self._steps -= 1
        if self._steps < 0:
            raise SecurityError(f"it takes more than {STEPS} steps")

    def make(self, characters: int) -> None:
        """Count characters, before they are produced if possible. Raises SecurityError."""
        self._characters -= characters
        if self._characters < 0:
            raise SecurityError(f"it makes more than {CHARACTERS} characters")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Allow arithmetic on numbers only; texts and lists could grow."""
        for side in (left, right):
            if not isinstance(side, int | float) or abs(side) > LARGEST_NUMBER:
                raise SecurityError(f"`{operator}` is for numbers; `~` joins texts")
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call a given function, `range`, or a method that produces nothing large."""
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

    def _counted(self, filter_: Callable[..., Any]) -> Callable[..., Any]:
        """A filter whose input and output are counted."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.make(sum(map(_size, args)))
            result = filter_(*args, **kwargs)
            self.make(_size(result))
            return result

        # The attributes may mark that the filter wants the context.
        counted.__dict__.update(getattr(filter_, "__dict__", {}))
        return counted

    @pass_context
    def _count_steps(self, _: Context, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.step()
            yield value

    @pass_context
    def _count_step(self, _: Context, value: Any) -> Any:
        self.step()
        return value

    @pass_context
    def _join_list(self, _: Context, values: list[Any]) -> str:
        return self._join(values)

    def _join(self, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
        items = list(value)
        if attribute is not None:
            items = [self.getitem(item, attribute) for item in items]
        self.make(sum(map(_size, items)) + len(items) * _size(d))
        texts = [str(item) for item in items]
        self.make(sum(map(len, texts)))
        return str(d).join(texts)

    def _replace(self, text: Any, old: str, new: str, count: int = -1) -> str:
        whole = str(text)
        self.make(len(whole) + (whole.count(old) if count < 0 else count) * len(new))
        return whole.replace(old, new, count)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict | range) else 1


class _Bounds(NodeTransformer):
    """Refuse unbounded constructs, and count the rest."""

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
    """Generates Python from the bounded tree."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        bounded = _Bounds().visit(node)
        bounded.set_environment(self.environment)
        super().visit_Template(bounded, frame)
