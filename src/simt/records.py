"""`dataclass`, ready in an eighth of the time.

The standard library compiles up to six functions for each class when it is imported. The package has more
than two hundred of them, and that took longer than to compile a small kernel. Here methods that can be shared
are, and `__init__`, `__eq__` and `__hash__` of a class are compiled when one of them is first called.
"""

from __future__ import annotations

import dataclasses
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

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


def _record(cls: type[Any], eq: bool, frozen: bool, slots: bool, weakref_slot: bool) -> type[Any]:
    own = vars(cls)
    hashed = () if own.get("__hash__") is None else ("__hash__",)
    kept = own.keys() & {"__repr__", *hashed, "__eq__"}
    if "__init__" in own:
        raise TypeError(f"{cls.__qualname__}: expected a class without __init__")
    plain = {"init": False, "repr": False, "eq": False, "slots": slots, "weakref_slot": weakref_slot}
    made = dataclasses.dataclass(**plain)(cls)
    for field in dataclasses.fields(made):
        if not field.init or field.kw_only:
            raise TypeError(f"{made.__qualname__}.{field.name}: expected a field that is a plain parameter")
    methods: dict[str, Any] = {**METHODS, **(FROZEN if frozen else {}), **(STATE if frozen and slots else {})}
    if eq:
        methods |= COMPARISON if frozen else {**COMPARISON, "__hash__": None}
    for name, method in methods.items():
        if name not in kept:
            setattr(made, name, method)
    return made


def _complete(cls: type[Any]) -> None:
    """Compiles the methods of the record that a class is, or is derived from. Another thread may have done it
    meanwhile: then `__init__`, which is put in place last, is no longer the first one."""
    made = next((c for c in cls.__mro__ if vars(c).get("__init__") is _first_init), None)
    if made is None:
        return
    source, known = _initializer(made)
    exec(source + _comparison(made), known)
    own = vars(made)
    for name, first in {**COMPARISON, "__init__": _first_init}.items():
        if own.get(name) is first:
            known[name].__qualname__ = f"{made.__qualname__}.{name}"
            setattr(made, name, known[name])


def _initializer(made: type[Any]) -> tuple[str, dict[str, Any]]:
    """The text of `__init__`, and the names that it uses. That of a frozen class writes to the slots
    themselves; without slots as `object` does."""
    known: dict[str, Any] = {"_missing": dataclasses.MISSING, "_write": object.__setattr__}
    frozen = made.__setattr__ is _set
    parameters, lines = ["self"], list[str]()
    for i, field in enumerate(dataclasses.fields(made)):
        value, default = field.name, ""
        if field.default is not dataclasses.MISSING:
            known[f"_default{i}"], default = field.default, f"=_default{i}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_default{i}"], default = field.default_factory, "=_missing"
            value = f"_default{i}() if {field.name} is _missing else {field.name}"
        parameters.append(field.name + default)
        slot = getattr(made, field.name, None)
        if not frozen:
            lines.append(f" self.{field.name} = {value}\n")
        elif isinstance(slot, MemberDescriptorType):
            known[f"_set{i}"] = slot.__set__
            lines.append(f" _set{i}(self, {value})\n")
        else:
            lines.append(f" _write(self, {field.name!r}, {value})\n")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()\n")
    return f"def __init__({', '.join(parameters)}):\n{''.join(lines) or ' pass'}\n", known


def _comparison(made: type[Any]) -> str:
    """The text of `__eq__` and `__hash__`, which see the fields as a tuple."""
    compared = [f.name for f in dataclasses.fields(made) if f.compare]
    mine, others = (f"({''.join(f'{who}.{name}, ' for name in compared)})" for who in ("self", "other"))
    return (
        "def __eq__(self, other):\n"
        f" return {mine} == {others} if other.__class__ is self.__class__ else NotImplemented\n"
        f"def __hash__(self):\n return hash({mine})\n"
    )


def _first_init(self: object, *arguments: object, **named: object) -> None:
    _complete(type(self))
    cast("Any", self).__init__(*arguments, **named)


def _first_equal(self: object, other: object) -> bool:
    _complete(type(self))
    return type(self).__eq__(self, other)


def _first_hash(self: object) -> int:
    _complete(type(self))
    return hash(self)


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state):
        object.__setattr__(self, field.name, value)


COMPARISON = {"__eq__": _first_equal, "__hash__": _first_hash}
METHODS = {"__init__": _first_init, "__repr__": _repr}
FROZEN = {"__setattr__": _set, "__delattr__": _delete}
STATE = {"__getstate__": _state, "__setstate__": _restore}
