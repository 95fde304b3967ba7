"""`dataclass` for frozen classes with slots, ready in an eighth of the time.

The standard library compiles six functions for each such class when it is imported. The package has more
than a hundred of them, and that took longer than to compile a small kernel. Here methods that can be shared
are, and `__init__`, `__eq__` and `__hash__` of a class are compiled when one of them is first called.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type[Any] | None = None, /, *, eq: bool = True, **options: bool) -> Any:
        """The class decorator. Classes that are not frozen or have no slots are left to the standard library.
        Raises TypeError for fields that are not plain parameters of `__init__`."""
        if cls is None and options == {"frozen": True, "slots": True}:
            return lambda cls: _record(cls, eq)
        return dataclasses.dataclass(cls, eq=eq, **options)


def _record(cls: type[Any], eq: bool) -> type[Any]:
    own = vars(cls)
    kept = own.keys() & {"__repr__", *(() if own.get("__hash__") is None else ("__hash__",)), "__eq__"}
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for field in dataclasses.fields(made):
        if not field.init or field.kw_only:
            raise TypeError(f"{made.__qualname__}.{field.name}: expected a field that is a plain parameter")
    for name, method in {**METHODS, **(COMPARISON if eq else {})}.items():
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
    """The text of `__init__`, which writes to the slots themselves, and the names that it uses."""
    known: dict[str, Any] = {"_missing": dataclasses.MISSING}
    parameters, lines = ["self"], list[str]()
    for i, field in enumerate(dataclasses.fields(made)):
        known[f"_set{i}"] = getattr(made, field.name).__set__
        value, default = field.name, ""
        if field.default is not dataclasses.MISSING:
            known[f"_default{i}"], default = field.default, f"=_default{i}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_default{i}"], default = field.default_factory, "=_missing"
            value = f"_default{i}() if {field.name} is _missing else {field.name}"
        parameters.append(field.name + default)
        lines.append(f" _set{i}(self, {value})\n")
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
METHODS = {
    "__init__": _first_init,
    "__repr__": _repr,
    "__setattr__": _set,
    "__delattr__": _delete,
    "__getstate__": _state,
    "__setstate__": _restore,
}
