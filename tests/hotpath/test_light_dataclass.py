"""The cheap `dataclass`: what it does, the one of the standard library does as well."""

import dataclasses
from collections.abc import Callable

import pytest

from ghp_agents.hotpath import light_dataclass


def _point(dataclass: Callable[[type], type]) -> type:
    class Point:
        x: int
        y: int = 2
        name: "str | None" = None

    return dataclass(Point)


OURS, THEIRS = _point(light_dataclass.dataclass), _point(dataclasses.dataclass)


@pytest.mark.parametrize("point", [OURS, THEIRS])
def test_fields_are_given_by_place_or_name_and_have_defaults(point: type) -> None:
    assert vars(point(1, name="a")) == {"x": 1, "y": 2, "name": "a"}
    assert list(vars(point(name="a", x=1))) == ["x", "y", "name"]
    assert repr(point(1)).endswith("Point(x=1, y=2, name=None)")
    assert point(1) == point(1, 2)
    assert point(1) != point(1, 3)
    assert point(1) != "Point(x=1, y=2, name=None)"


@pytest.mark.parametrize("point", [OURS, THEIRS])
@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, "a", 4), {}), ((1,), {"z": 3})])
def test_missing_and_unknown_fields_are_refused(
    point: type, values: tuple[object, ...], named: dict[str, object]
) -> None:
    with pytest.raises(TypeError):
        point(*values, **named)


def test_equal_instances_are_one_key() -> None:
    assert len({OURS(1), OURS(1, 2), OURS(2)}) == 2


def test_a_class_keeps_its_own_repr() -> None:
    @light_dataclass.dataclass
    class Secret:
        text: str

        def __repr__(self) -> str:
            return "Secret()"

    assert repr(Secret("a")) == "Secret()"
    assert Secret("a") == Secret("b")
