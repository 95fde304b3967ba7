"""`dataclass`, ready in a twentieth of the time, and `replace`, in a fifth.

The standard library compiles up to six functions for each class when it is imported. The package has more
than two hundred of them, and that took longer than to compile a small kernel. Here methods that can be shared
are, and `__init__`, `__eq__`, `__hash__` and what `replace` calls are compiled when one of them is first
called. What the standard library wants to know of a class (`dataclasses.fields`) is made when it asks.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def replace(record: Any, /, **changes: Any) -> Any:
        """A new record, with some fields changed."""
        return record._changed(**changes)

    def dataclass(
        cls: type[Any] | None = None,
        /,
        *,
        eq: bool = True,
        frozen: bool = False,
        slots: bool = False,
        weakref_slot: bool = False,
    ) -> Any:
        """The class decorator. Raises TypeError for fields that are not plain parameters of `__init__`, and
        for a class that has one of its own."""

        def record(cls: type[Any]) -> type[Any]:
            return _record(cls, eq, frozen, slots, weakref_slot)

        return record if cls is None else record(cls)


FIELD: Any = dataclasses.Field
GIVEN = "_given"
"""The attribute of records that has their fields by name, with what stands behind `=` in the class, else
`MISSING`."""


def _record(cls: type[Any], eq: bool, frozen: bool, slots: bool, weakref_slot: bool) -> type[Any]:
    own = vars(cls)
    hashed = () if own.get("__hash__") is None else ("__hash__",)
    kept = own.keys() & {"__repr__", *hashed, "__eq__"}
    if "__init__" in own:
        raise TypeError(f"{cls.__qualname__}: expected a class without __init__")
    methods: dict[str, Any] = {**METHODS, **(FROZEN if frozen else {}), **(STATE if frozen and slots else {})}
    if eq:
        methods |= COMPARISON if frozen else {**COMPARISON, "__hash__": None}
    inherited: dict[str, Any] = {}
    for base in cls.__mro__[:0:-1]:
        inherited |= vars(base).get(GIVEN, {})
    mine = {name: _given(cls, name) for name in cls.__annotations__}
    fields = inherited | mine
    added = {name: method for name, method in methods.items() if name not in kept}
    added |= {GIVEN: fields, "__match_args__": (*fields,)}
    if slots:
        # A new class, as slots cannot be added to one.
        body = {n: v for n, v in own.items() if n not in mine and n not in ("__dict__", "__weakref__")}
        names = (*(n for n in mine if n not in inherited), *(("__weakref__",) if weakref_slot else ()))
        named = {"__slots__": names, "__qualname__": cls.__qualname__}
        make: Any = type(cls)
        return make(cls.__name__, cls.__bases__, body | added | named)
    for name, value in mine.items():
        if isinstance(value, FIELD):
            delattr(cls, name)
            added |= {} if value.default is dataclasses.MISSING else {name: value.default}
    for name, value in added.items():
        setattr(cls, name, value)
    return cls


def _given(cls: type[Any], name: str) -> Any:
    """What stands behind a field's `=`."""
    value: Any = vars(cls).get(name, dataclasses.MISSING)
    plain = not str(cls.__annotations__[name]).startswith(("ClassVar", "InitVar", "KW_ONLY"))
    if isinstance(value, FIELD):
        plain = plain and value.init and value.kw_only is not True
    if not plain:
        raise TypeError(f"{cls.__qualname__}.{name}: expected a field that is a plain parameter")
    return value


class _StandardFields:
    """An attribute of records: their fields as the standard library keeps them."""

    def __get__(self, record: object, owner: type[Any]) -> Any:
        return _standard_fields(owner)


@cache
def _standard_fields(made: type[Any]) -> Any:
    types = {n: t for c in made.__mro__[::-1] for n, t in getattr(c, "__annotations__", {}).items()}
    given = getattr(made, GIVEN).items()
    fields = [(n, types[n]) if v is dataclasses.MISSING else (n, types[n], v) for n, v in given]
    like: Any = dataclasses.make_dataclass(made.__name__, fields, init=False, repr=False, eq=False)
    return like.__dataclass_fields__


def _complete(cls: type[Any], name: str) -> None:
    """Compiles a method of the record that a class is, or is derived from. Another thread may have done it
    meanwhile: then it is no longer the first one."""
    first, write = WRITERS[name]
    made = next((c for c in cls.__mro__ if vars(c).get(name) is first), None)
    if made is None:
        return
    source, known = write(made)
    exec(source, known)
    known[name].__qualname__ = f"{made.__qualname__}.{name}"
    setattr(made, name, known[name])


def _initializer(made: type[Any]) -> tuple[str, dict[str, Any]]:
    """The text of `__init__`, and the names that it uses. That of a frozen class writes to the slots
    themselves; without slots as `object` does."""
    known: dict[str, Any] = {"_missing": dataclasses.MISSING, "_write": object.__setattr__}
    frozen = made.__setattr__ is _set
    parameters, lines = ["self"], list[str]()
    for i, (name, given) in enumerate(getattr(made, GIVEN).items()):
        value, factory = name, dataclasses.MISSING
        if isinstance(given, FIELD):
            given, factory = given.default, given.default_factory
        if factory is not dataclasses.MISSING:
            known[f"_default{i}"], given = factory, known["_missing"]
            parameters.append(f"{name}=_missing")
            value = f"_default{i}() if {name} is _missing else {name}"
        elif given is dataclasses.MISSING:
            parameters.append(name)
        else:
            known[f"_default{i}"] = given
            parameters.append(f"{name}=_default{i}")
        slot = getattr(made, name, None)
        if not frozen:
            lines.append(f" self.{name} = {value}\n")
        elif isinstance(slot, MemberDescriptorType):
            known[f"_set{i}"] = slot.__set__
            lines.append(f" _set{i}(self, {value})\n")
        else:
            lines.append(f" _write(self, {name!r}, {value})\n")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()\n")
    return f"def __init__({', '.join(parameters)}):\n{''.join(lines) or ' pass'}\n", known


def _compared(made: type[Any], who: str) -> str:
    """The fields that count for equality, as a tuple."""
    given = getattr(made, GIVEN).items()
    counted = (n for n, v in given if v.__class__ is not FIELD or v.compare)
    return f"({''.join(f'{who}.{name}, ' for name in counted)})"


def _equal(made: type[Any]) -> tuple[str, dict[str, Any]]:
    mine, others = (_compared(made, who) for who in ("self", "other"))
    result = f"{mine} == {others} if other.__class__ is self.__class__ else NotImplemented"
    return f"def __eq__(self, other):\n return {result}\n", {}


def _hash(made: type[Any]) -> tuple[str, dict[str, Any]]:
    return f"def __hash__(self):\n return hash({_compared(made, 'self')})\n", {}


def _changed(made: type[Any]) -> tuple[str, dict[str, Any]]:
    """The text of what `replace` calls."""
    names = getattr(made, GIVEN)
    parameters = "".join(f", {name}=_missing" for name in names)
    values = ", ".join(f"self.{name} if {name} is _missing else {name}" for name in names)
    text = f"def _changed(self{parameters}):\n return self.__class__({values})\n"
    return text, {"_missing": dataclasses.MISSING}


def _first_init(self: object, *arguments: object, **named: object) -> None:
    _complete(type(self), "__init__")
    cast("Any", self).__init__(*arguments, **named)


def _first_equal(self: object, other: object) -> bool:
    _complete(type(self), "__eq__")
    return type(self).__eq__(self, other)


def _first_hash(self: object) -> int:
    _complete(type(self), "__hash__")
    return hash(self)


def _first_changed(self: Any, **changes: Any) -> Any:
    _complete(self.__class__, "_changed")
    return self._changed(**changes)


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, GIVEN)]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, GIVEN), state):
        object.__setattr__(self, name, value)


COMPARISON = {"__eq__": _first_equal, "__hash__": _first_hash}
METHODS = {
    "__init__": _first_init,
    "__repr__": _repr,
    "_changed": _first_changed,
    "__dataclass_fields__": _StandardFields(),
}
FROZEN = {"__setattr__": _set, "__delattr__": _delete}
STATE = {"__getstate__": _state, "__setstate__": _restore}
WRITERS = {
    "__init__": (_first_init, _initializer),
    "__eq__": (_first_equal, _equal),
    "__hash__": (_first_hash, _hash),
    "_changed": (_first_changed, _changed),
}
"""What stands for a method until it is called, and what writes the method's text."""
