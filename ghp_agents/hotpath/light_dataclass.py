"""`dataclass` without `import dataclasses`, which would cost more than the check of an edit."""

__all__ = ["dataclass"]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type) -> type:
        """Add methods to a class by its annotated fields. Instances with the same `repr` are
        equal."""
        names = tuple(cls.__annotations__)
        defaults = {name: value for name, value in vars(cls).items() if name in names}

        def init(self: object, *values: object, **named: object) -> None:
            fields = defaults | dict(zip(names, values, strict=False)) | named
            if len(values) > len(names) or fields.keys() != set(names):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(names)}")
            vars(self).update((name, fields[name]) for name in names)

        def shown(self: object) -> str:
            return f"{cls.__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

        cls.__init__ = init
        cls.__repr__ = vars(cls).get("__repr__", shown)
        cls.__eq__ = lambda self, other: isinstance(other, cls) and repr(self) == repr(other)
        cls.__hash__ = lambda self: hash(repr(self))
        return cls
