"""`dataclass`, ready in a twentieth of the time, and `replace`, in a fifth.

The standard library compiles up to six functions for each class when it is imported. The package has more
than two hundred of them, and that took longer than to compile a small kernel. Here methods that can be shared
are, and `__init__`, `__eq__`, `__hash__` and what `replace` calls are made when one of them is first called,
of code that classes with as many fields share. What the standard library wants to know of a class
(`dataclasses.fields`) is made when it asks.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

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
    """Makes a method of the record that a class is, or is derived from. Another thread may have done it
    meanwhile: then it is no longer the first one."""
    first, write = WRITERS[name]
    made = next((c for c in cls.__mro__ if vars(c).get(name) is first), None)
    if made is None:
        return
    written = write(made)
    code = _renamed(_code(written.text), written.names)
    method = FunctionType(code, written.known, name, written.defaults)
    method.__module__, method.__qualname__ = made.__module__, f"{made.__qualname__}.{name}"
    setattr(made, name, method)


class _Written(NamedTuple):
    """A method as text, in which fields are `_0`, `_1` and so on, so that classes of one form share it.
    `names`: what they are called. `known`: other names that it uses."""

    text: str
    names: tuple[str, ...]
    known: dict[str, Any]
    defaults: tuple[Any, ...] = ()


@cache
def _code(text: str) -> CodeType:
    """Of the one function that a text defines."""
    return next(c for c in compile(text, "<record>", "exec").co_consts if isinstance(c, CodeType))


def _renamed(code: CodeType, names: tuple[str, ...]) -> CodeType:
    """The same code for fields of other names: to compile it again would take twenty times as long."""
    named = {f"_{i}": name for i, name in enumerate(names)}
    local, others = (tuple([named.get(n, n) for n in old]) for old in (code.co_varnames, code.co_names))
    return code.replace(co_varnames=local, co_names=others)


def _initializer(made: type[Any]) -> _Written:
    """`__init__`. That of a frozen class writes to the slots themselves; without slots as `object` does."""
    known: dict[str, Any] = {"_missing": dataclasses.MISSING, "_write": object.__setattr__}
    frozen, fields = made.__setattr__ is _set, getattr(made, GIVEN)
    lines, defaults = list[str](), list[Any]()
    for i, (name, given) in enumerate(fields.items()):
        value, slot = f"_{i}", getattr(made, name, None)
        if isinstance(given, FIELD) and given.default_factory is not dataclasses.MISSING:
            known[f"_default{i}"] = given.default_factory
            value = f"_default{i}() if _{i} is _missing else _{i}"
            defaults.append(dataclasses.MISSING)
        elif (default := given.default if isinstance(given, FIELD) else given) is not dataclasses.MISSING:
            defaults.append(default)
        elif defaults:
            raise TypeError(f"{made.__qualname__}.{name}: expected a default, as the field before has one")
        if not frozen:
            lines.append(f" self._{i} = {value}\n")
        elif isinstance(slot, MemberDescriptorType):
            known[f"_set{i}"] = slot.__set__
            lines.append(f" _set{i}(self, {value})\n")
        else:
            known[f"_name{i}"] = name
            lines.append(f" _write(self, _name{i}, {value})\n")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()\n")
    parameters = "".join(f", _{i}" for i in range(len(fields)))
    text = f"def __init__(self{parameters}):\n{''.join(lines) or ' pass'}\n"
    return _Written(text, tuple(fields), known, tuple(defaults))


def _compared(made: type[Any]) -> tuple[str, ...]:
    """The fields that count for equality."""
    given = getattr(made, GIVEN).items()
    return tuple([n for n, v in given if v.__class__ is not FIELD or v.compare])


def _values(who: str, fields: tuple[str, ...]) -> str:
    return f"({''.join(f'{who}._{i}, ' for i in range(len(fields)))})"


def _equal(made: type[Any]) -> _Written:
    fields = _compared(made)
    mine, others = _values("self", fields), _values("other", fields)
    result = f"{mine} == {others} if other.__class__ is self.__class__ else NotImplemented"
    return _Written(f"def __eq__(self, other):\n return {result}\n", fields, {})


def _hash(made: type[Any]) -> _Written:
    fields = _compared(made)
    return _Written(f"def __hash__(self):\n return hash({_values('self', fields)})\n", fields, {})


def _changed(made: type[Any]) -> _Written:
    """What `replace` calls."""
    fields = tuple(getattr(made, GIVEN))
    parameters = "".join(f", _{i}" for i in range(len(fields)))
    values = ", ".join(f"self._{i} if _{i} is _missing else _{i}" for i in range(len(fields)))
    text = f"def _changed(self{parameters}):\n return self.__class__({values})\n"
    return _Written(text, fields, {"_missing": dataclasses.MISSING}, (dataclasses.MISSING,) * len(fields))


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
