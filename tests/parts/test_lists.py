"""What the lists name exists, and asks only for what its caller has."""

from inspect import Parameter, signature

from ghp_agents.doctor.service import Patient
from ghp_agents.parts import lists
from ghp_agents.parts.call import find
from ghp_agents.sync.compaction import Compaction
from ghp_agents.sync.notifications import Reader
from ghp_agents.sync.service import Round

LISTS: list[tuple[str, type]] = [
    *((name, Patient) for name in lists.CHECKS.values()),
    *((act.name, Round) for act in (*lists.BEFORE_SYNC, *lists.AFTER_SYNC)),
    *((name, Reader) for name in lists.NEWS),
    *((name, Compaction) for name in lists.COMPACTION),
]


def test_a_part_exists_and_its_caller_has_what_it_needs() -> None:
    lacking = [
        (name, key)
        for name, source in LISTS
        for key, parameter in signature(find(name)).parameters.items()
        if parameter.default is Parameter.empty and key not in _offered(source)
    ]
    assert lacking == []


def test_each_kind_of_record_has_a_reader_that_also_returns_problems() -> None:
    assert [find(reader)({})[-1] or [] for reader in lists.RECORDS.values() if reader] == [[]] * 15


def _offered(source: type) -> set[str]:
    return {*dir(source), *getattr(source, "__dataclass_fields__", ())}


def test_each_act_of_a_sync_needs_what_a_sync_knows() -> None:
    needs = {act.when for act in (*lists.BEFORE_SYNC, *lists.AFTER_SYNC)}
    assert needs <= _offered(Round)


def test_nothing_is_named_twice() -> None:
    names = [name for name, _ in LISTS]
    assert len(names) == len(set(names))
