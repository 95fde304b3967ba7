"""`dataclass`, ready in a twentieth of the time, `field`, and `replace`, in a fifth.

The standard library compiles up to six functions for each class when it is imported. The package has more
than two hundred of them, and that took longer than to compile a small kernel. Here methods that can be shared
are, and `__init__`, `__eq__`, `__hash__` and what `replace` calls are made when one of them is first called,
of code that classes with as many fields share. What the standard library wants to know of a class
(`dataclasses.fields`) is made when it asks: it is imported then.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, cast

T = TypeVar("T")
MISSING: Any = object()
"""Of a field: it has no default, or no factory."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:

    def field(
        *, default: Any = MISSING, default_factory: Any = MISSING, repr: bool = True, compare: bool = True
    ) -> Any:
        """What may stand behind a field's `=`."""
        return Field(default, default_factory, repr, compare)

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


def quick(record: type[T]) -> type[T]:
    """For records that are made dozens of times for each instruction that is compiled: only the checker of
    types keeps these from being changed. To refuse it here takes most of the time in which one is made."""
    del record.__setattr__, record.__delattr__
    return record


class Field:
    """What `field` was called with."""

    __slots__ = ("compare", "default", "default_factory", "repr")

    def __init__(self, default: Any, default_factory: Any, repr: bool, compare: bool) -> None:
        self.default, self.default_factory = default, default_factory
        self.repr, self.compare = repr, compare


GIVEN = "_given"
"""The attribute of records that has their fields by name, with what stands behind `=` in the class, else
`MISSING`."""


def _record(cls: type[Any], eq: bool, frozen: bool, slots: bool, weakref_slot: bool) -> type[Any]:
    own = vars(cls)
    if "__init__" in own:
        raise TypeError(f"{cls.__qualname__}: expected a class without __init__")
    fields: dict[str, Any] = {}
    for base in cls.__mro__[-2:0:-1]:
        fields |= vars(base).get(GIVEN, NOTHING)
    inherited = frozenset(fields)
    mine = cls.__annotations__
    for name, kind in mine.items():
        fields[name] = _given(cls, name, kind, own.get(name, MISSING))
    added = METHODS[eq, frozen, slots] | {GIVEN: fields, "__match_args__": (*fields,)}
    for name in ("__repr__", "__hash__", "__eq__"):  # the class's own ones stay
        if own.get(name) is not None:
            added.pop(name, None)
    if slots:
        # A new class, as slots cannot be added to one.
        body = {n: v for n, v in own.items() if n not in mine and n not in INSTANCE} | added
        body["__slots__"] = (*[n for n in mine if n not in inherited], *(("__weakref__",) * weakref_slot))
        body["__qualname__"] = cls.__qualname__
        make: Any = type(cls)
        return make(cls.__name__, cls.__bases__, body)
    for name in mine:
        value = fields[name]
        if value.__class__ is Field:
            delattr(cls, name)
            if value.default is not MISSING:
                added[name] = value.default
    for name, value in added.items():
        setattr(cls, name, value)
    return cls


def _given(cls: type[Any], name: str, kind: object, value: Any) -> Any:
    """What stands behind a field's `=`."""
    if str(kind).startswith(("ClassVar", "InitVar", "KW_ONLY")):
        raise TypeError(f"{cls.__qualname__}.{name}: expected a field that is a plain parameter")
    if value.__class__.__module__ == "dataclasses":
        raise TypeError(f"{cls.__qualname__}.{name}: expected `field` of simt.records")
    return value


class _StandardFields:
    """An attribute of records: their fields as the standard library keeps them."""

    def __get__(self, record: object, owner: type[Any]) -> Any:
        return _standard_fields(owner)


@cache
def _standard_fields(made: type[Any]) -> Any:
    import dataclasses  # the standard library asks: start-up time

    def standard(given: Any) -> Any:
        """The same as the standard library's `field` gives it."""
        if given is MISSING:
            return dataclasses.field()
        if not isinstance(given, Field):
            return given
        said = {n: getattr(given, n) for n in Field.__slots__}
        return dataclasses.field(**{n: v for n, v in said.items() if v is not MISSING})

    types = {n: t for c in made.__mro__[::-1] for n, t in getattr(c, "__annotations__", {}).items()}
    fields = [(n, types[n], standard(v)) for n, v in getattr(made, GIVEN).items()]
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
    code = _renamed(_code(written.form), written.names, name)
    method = FunctionType(code, written.known, name, written.defaults)
    method.__module__, method.__qualname__ = made.__module__, f"{made.__qualname__}.{name}"
    setattr(made, name, method)


class _Written:
    """A method, by its form (`text_of`), in which fields are `_0`, `_1` and so on, so that classes of one
    form share it. `names`: what they are called. `known`: other names that it uses."""

    def __init__(
        self, form: str, names: tuple[str, ...], known: dict[str, Any], defaults: tuple[Any, ...] = ()
    ) -> None:
        self.form, self.names, self.known, self.defaults = form, names, known, defaults


@cache
def _code(form: str) -> CodeType:
    """Of a method."""
    code = compile(text_of(form), "<record>", "exec")
    return next(c for c in code.co_consts if isinstance(c, CodeType))


def _renamed(code: CodeType, names: tuple[str, ...], method: str) -> CodeType:
    """The same code for fields of other names: to compile it again would take twenty times as long."""
    named = {f"_{i}": name for i, name in enumerate(names)}
    local, others = (tuple([named.get(n, n) for n in old]) for old in (code.co_varnames, code.co_names))
    return code.replace(co_varnames=local, co_names=others, co_name=method)


STORES = {"p": "self._{} = {}", "s": "_set{}(self, {})", "w": "_write(self, _name{}, {})"}
"""How `__init__` writes a field, by its letter: of a class that may change, to the slot itself, or as
`object` does. A capital says that what is not given is made."""


def text_of(form: str) -> str:
    """The text of a method: `eq`, `hash` or `changed` with a number of fields, or `init` with a letter for
    each, and `post` if more is done then."""
    kind, letters, *more = form.split("_")
    count = len(letters) if kind == "init" else int(letters)
    fields = range(count)
    if kind == "eq":
        mine, others = _values("self", count), _values("other", count)
        body = f"return {mine} == {others} if other.__class__ is self.__class__ else NotImplemented"
        return f"def {form}(self, other):\n    if other is self:\n        return True\n    {body}\n"
    if kind == "hash":
        return f"def {form}(self):\n    return hash({_values('self', count)})\n"
    parameters = "".join(f", _{i}" for i in fields)
    if kind == "changed":
        values = ", ".join(f"self._{i} if _{i} is _missing else _{i}" for i in fields)
        return f"def {form}(self{parameters}):\n    return self.__class__({values})\n"
    lines = list[str]()
    for i, letter in enumerate(letters):
        value = f"_default{i}() if _{i} is _missing else _{i}" if letter.isupper() else f"_{i}"
        lines.append(STORES[letter.lower()].format(i, value))
    lines += ["self.__post_init__()"] * len(more)
    return f"def {form}(self{parameters}):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])


def _values(who: str, count: int) -> str:
    return f"({''.join(f'{who}._{i}, ' for i in range(count))})"


def _initializer(made: type[Any]) -> _Written:
    """`__init__`."""
    known: dict[str, Any] = {"_missing": MISSING, "_write": object.__setattr__}
    frozen, fields = made.__setattr__ is _set, getattr(made, GIVEN)
    letters, defaults = list[str](), list[Any]()
    for i, (name, given) in enumerate(fields.items()):
        slot, letter = getattr(made, name, None), "w" if frozen else "p"
        if frozen and isinstance(slot, MemberDescriptorType):
            known[f"_set{i}"], letter = slot.__set__, "s"
        known[f"_name{i}"] = name
        if isinstance(given, Field) and given.default_factory is not MISSING:
            known[f"_default{i}"], letter = given.default_factory, letter.upper()
            defaults.append(MISSING)
        elif (default := given.default if isinstance(given, Field) else given) is not MISSING:
            defaults.append(default)
        elif defaults:
            raise TypeError(f"{made.__qualname__}.{name}: expected a default, as the field before has one")
        letters.append(letter)
    post = "_post" if hasattr(made, "__post_init__") else ""
    return _Written(f"init_{''.join(letters)}{post}", tuple(fields), known, tuple(defaults))


def _compared(made: type[Any]) -> tuple[str, ...]:
    """The fields that count for equality."""
    given = getattr(made, GIVEN).items()
    return tuple([n for n, v in given if v.__class__ is not Field or v.compare])


def _equal(made: type[Any]) -> _Written:
    fields = _compared(made)
    return _Written(f"eq_{len(fields)}", fields, {})


def _hash(made: type[Any]) -> _Written:
    fields = _compared(made)
    return _Written(f"hash_{len(fields)}", fields, {})


def _changed(made: type[Any]) -> _Written:
    """What `replace` calls."""
    fields = tuple(getattr(made, GIVEN))
    return _Written(f"changed_{len(fields)}", fields, {"_missing": MISSING}, (MISSING,) * len(fields))


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
    names = (n for n, v in getattr(self, GIVEN).items() if v.__class__ is not Field or v.repr)
    return f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"


def _set(self: object, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError  # where something is wrong: start-up time

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, GIVEN)]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, GIVEN), state):
        object.__setattr__(self, name, value)


COMPARISON = {"__eq__": _first_equal, "__hash__": _first_hash}
FROZEN = {"__setattr__": _set, "__delattr__": _delete}
STATE = {"__getstate__": _state, "__setstate__": _restore}
ALL = {
    "__init__": _first_init,
    "__repr__": _repr,
    "_changed": _first_changed,
    "__dataclass_fields__": _StandardFields(),
}
NOTHING: Any = {}
INSTANCE = ("__dict__", "__weakref__")
"""What a class without slots has of its own."""


def _methods(eq: bool, frozen: bool, slots: bool) -> dict[str, Any]:
    compared: dict[str, Any] = COMPARISON if frozen else {**COMPARISON, "__hash__": None}
    state = STATE if frozen and slots else {}
    return {**ALL, **(FROZEN if frozen else {}), **state, **(compared if eq else {})}


METHODS = {flags: _methods(*flags) for flags in product((False, True), repeat=3)}
"""By whether a class is compared, refuses to be changed, and has slots."""
WRITERS = {
    "__init__": (_first_init, _initializer),
    "__eq__": (_first_equal, _equal),
    "__hash__": (_first_hash, _hash),
    "_changed": (_first_changed, _changed),
}
"""What stands for a method until it is called, and what writes the method's text."""
