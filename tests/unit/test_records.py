"""Records behave as the standard library's classes do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import pytest

from simt import records
from simt.records import field


def classes(by: ModuleType = records) -> tuple[type[Any], ...]:
    """The same classes, made by the decorator of a module."""
    dataclass, field = by.dataclass, by.field

    @dataclass(frozen=True, slots=True)
    class Point:
        """Two numbers."""

        x: int
        y: float = 2.5
        names: list[str] = field(default_factory=list[str], compare=False)
        note: str = field(default="n", repr=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x")

    @dataclass(frozen=True, slots=True)
    class Named(Point):
        """A point with a name."""

        name: str = ""

    @dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        """Equal to itself only."""

        x: int

    @dataclass(frozen=True, slots=True)
    class Own:
        """Has methods of its own."""

        x: int

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    return Point, Named, Identity, Own, Empty


def others(by: ModuleType) -> tuple[type[Any], ...]:
    """Classes that may change, or have no slots."""
    dataclass, field = by.dataclass, by.field

    @dataclass
    class Plain:
        """May change, and have further attributes."""

        x: int
        y: float = 2.5
        names: list[str] = field(default_factory=list[str], compare=False)
        note: str = field(default="n", repr=False)

        def __post_init__(self) -> None:
            self.y += 1

    @dataclass
    class Longer(Plain):
        """Has a field more."""

        name: str = ""

    @dataclass(slots=True)
    class Slotted:
        """May change."""

        x: int
        y: float = 2.5

    @dataclass(slots=True, eq=False, weakref_slot=True)
    class Referred:
        """Equal to itself only; weak references to it are allowed."""

        x: int

    @dataclass(frozen=True)
    class Open:
        """Does not change; a base that has a dictionary."""

        x: int
        y: float = 2.5

    @dataclass(frozen=True)
    class Opened(Open):
        """Has a field more."""

        name: str = ""

    @dataclass
    class Counted:
        """Has a hash of its own, though it may change."""

        x: int

        def __hash__(self) -> int:
            return 7

    return Plain, Longer, Slotted, Referred, Open, Opened, Counted


OURS, THEIRS = classes(records), classes(dataclasses)
PAIRS = [pytest.param(ours, theirs, id=ours.__name__) for ours, theirs in zip(OURS, THEIRS)]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2.5), {}),
    ((1,), {"y": 2.5}),
    ((1, 0.5, ["a"], "m"), {}),
    ((1,), {"name": "a"}),
    ((1, 2.5, ["a"], "n", "b"), {}),
    ((-1,), {}),
    ((1,), {"z": 2}),
    ((1, 2, 3, 4, 5, 6), {}),
]


def attempt(run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """A result, or the kind of exception."""
    try:
        return run(*arguments, **named)
    except Exception as error:
        return type(error)


def compared(one: Any, other: Any) -> Any:
    """What operators say of two objects."""
    return one == other, one != other, hash(one) == hash(other), repr(other)


CHANGES: list[dict[str, Any]] = [{}, {"x": 5}, {"x": -1}, {"y": 0.5}, {"names": ["c"], "note": "m"}, {"z": 1}]


def changed_alike(mine: Any, other: Any) -> None:
    """`replace` does with a record what the standard library does with its classes, and with records."""
    for changes in CHANGES:
        found = [
            attempt(replace, value, **changes)
            for replace, value in (
                (records.replace, mine),
                (dataclasses.replace, mine),
                (dataclasses.replace, other),
            )
        ]
        assert repr(found[0]) == repr(found[1]) == repr(found[2])
        assert isinstance(found[0], type) or type(found[0]) is type(mine)


@pytest.mark.parametrize(("arguments", "named"), CALLS)
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_as_the_standard_library(
    ours: type[Any], theirs: type[Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    mine, other = (attempt(c, *arguments, **named) for c in (ours, theirs))
    if isinstance(other, type):
        assert mine is other
        return
    assert repr(mine) == repr(other)
    assert mine != other
    assert not hasattr(mine, "__dict__")
    for again, named_again in CALLS:
        second = (attempt(c, *again, **named_again) for c in (ours, theirs))
        found = [attempt(compared, v, w) for v, w in zip((mine, other), second)]
        assert found[0] == found[1]
    for name in ("x", "note", "anything"):
        assert issubclass(attempt(setattr, mine, name, 3), AttributeError)
        assert issubclass(attempt(delattr, mine, name), AttributeError)
    changed_alike(mine, other)
    assert repr(copy.copy(mine)) == repr(copy.deepcopy(mine)) == repr(mine)


OTHERS = [
    pytest.param(ours, theirs, id=ours.__name__) for ours, theirs in zip(others(records), others(dataclasses))
]


@pytest.mark.parametrize(("arguments", "named"), CALLS)
@pytest.mark.parametrize(("ours", "theirs"), OTHERS)
def test_classes_that_change_or_have_a_dictionary(
    ours: type[Any], theirs: type[Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    mine, other = (attempt(c, *arguments, **named) for c in (ours, theirs))
    if isinstance(other, type):
        assert mine is other
        return
    assert repr(mine) == repr(other)
    assert (attempt(hash, mine) is TypeError) == (attempt(hash, other) is TypeError)
    assert hasattr(mine, "__dict__") == hasattr(other, "__dict__")
    assert hasattr(mine, "__weakref__") == hasattr(other, "__weakref__")
    for again, named_again in CALLS:
        second = (attempt(c, *again, **named_again) for c in (ours, theirs))
        found = [attempt(lambda v, w: (v == w, v != w), v, w) for v, w in zip((mine, other), second)]
        assert found[0] == found[1]
    for name in ("x", "anything"):
        results = [attempt(setattr, v, name, 3) for v in (mine, other)]
        assert results[0] is results[1]
        assert repr(mine) == repr(other)
    changed_alike(mine, other)
    assert repr(copy.copy(mine)) == repr(copy.deepcopy(mine)) == repr(mine)
    removed = [attempt(delattr, v, "x") for v in (mine, other)]
    assert removed[0] is removed[1]


@pytest.mark.parametrize(("ours", "theirs"), [*PAIRS, *OTHERS])
def test_fields(ours: type[Any], theirs: type[Any]) -> None:
    assert ours.__match_args__ == theirs.__match_args__
    described = [
        [(f.name, f.type, f.default, f.default_factory, f.compare, f.repr) for f in dataclasses.fields(made)]
        for made in (ours, theirs)
    ]
    assert described[0] == described[1]


def test_only_what_is_called_is_compiled() -> None:
    made, *_ = classes()
    point = made(1)
    first = {name for name in records.WRITERS if vars(made)[name] is records.WRITERS[name][0]}
    assert first == {"__eq__", "__hash__", "_changed"}
    assert point == made(1)
    assert records.replace(point, x=2) == made(2)
    assert vars(made)["__hash__"] is records.WRITERS["__hash__"][0]
    assert hash(point) == hash(made(1))
    assert all(vars(made)[name] is not first for name, (first, _) in records.WRITERS.items())


def test_factories_give_each_its_own() -> None:
    point = OURS[0]
    assert point(1).names is not point(1).names


def test_fields_that_are_no_parameters_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Odd\.x: expected `field` of simt\.records"):

        @records.dataclass(frozen=True, slots=True)
        class Odd:
            """With a field that nobody gives."""

            x: int = dataclasses.field(init=False)


def test_names_that_are_no_fields_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Odd\.x: expected a field that is a plain parameter"):

        @records.dataclass
        class Odd:
            """With a number for all."""

            x: ClassVar[int] = 3


def test_a_default_before_a_field_without_one_is_refused() -> None:
    @records.dataclass(slots=True)
    class Odd:
        """With a default at the wrong place."""

        first: int = 0
        last: int = field()

    with pytest.raises(TypeError, match=r"Odd\.last: expected a default, as the field before has one"):
        Odd(1, 2)


def test_fields_of_one_form_share_code() -> None:
    """Each with names of its own."""

    @records.dataclass(frozen=True, slots=True)
    class One:
        """Of two fields."""

        first: int
        second: list[int] = field(default_factory=list[int])

    @records.dataclass(frozen=True, slots=True)
    class Other:
        """Of two others."""

        left: str
        right: set[str] = field(default_factory=set[str])

    assert (One(second=[1], first=2).second, Other("a").right, One(3)) == ([1], set(), One(3))
    with pytest.raises(TypeError, match=r"Other\.__init__\(\) got an unexpected keyword argument 'first'"):
        Other(first=1)  # pyright: ignore[reportCallIssue]
    made: tuple[Any, ...] = (One, Other)
    codes = [cls.__init__.__code__ for cls in made]
    assert codes[0].co_code == codes[1].co_code
    assert [code.co_varnames for code in codes] == [("self", "first", "second"), ("self", "left", "right")]


def test_a_beginning_of_its_own_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Started: expected a class without __init__"):

        @records.dataclass
        class Started:
            """Begins in a way of its own."""

            x: int

            def __init__(self) -> None:
                self.x = 1


@records.dataclass(frozen=True, slots=True)
class Kept:
    """May be pickled, since its module is known."""

    x: int
    y: tuple[int, ...] = ()


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2, 3)))) == Kept(1, (2, 3))


def test_a_quick_record_is_one_but_for_being_guarded() -> None:
    def made(by: ModuleType) -> Any:
        @by.dataclass(frozen=True, slots=True)
        class Pair:
            """Two fields, of which one has a default."""

            x: int
            y: tuple[int, ...] = ()

        return Pair

    mine, theirs = records.quick(made(records)), made(dataclasses)
    found, wanted = mine(1, y=(2,)), theirs(1, y=(2,))
    assert (repr(found), hash(found)) == (repr(wanted), hash(wanted))
    assert (found == mine(1, (2,)), found == mine(1)) == (True, False)
    assert records.replace(found, x=3) == mine(3, (2,))
    found.x = 4
    assert found == mine(4, (2,))
    with pytest.raises(dataclasses.FrozenInstanceError):
        wanted.x = 4


def test_hash_before_init() -> None:
    """Of a class whose methods are first met by objects that were made otherwise."""
    (fresh, *_) = classes()
    point = fresh.__new__(fresh)
    for f, value in zip(dataclasses.fields(fresh), (1, 2.5, [], "n")):
        object.__setattr__(point, f.name, value)
    assert hash(point) == hash((1, 2.5, "n"))
    assert point == fresh(1)


def test_threads_may_be_first_together() -> None:
    for _ in range(50):
        point, *_ = classes()
        found: list[Any] = []
        start = threading.Barrier(4)

        def use(point: type[Any] = point, found: list[Any] = found, start: Any = start) -> None:
            start.wait()
            found.append((point(3) == point(3), hash(point(3)) == hash(point(3))))

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [(True, True)] * 4
