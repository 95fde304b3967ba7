"""LLVM IR as text: one function body, and one module around it."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from functools import cache, lru_cache

from simt.records import dataclass, field, quick

INLINED = 5000
"""Lines of functions in a module that LLVM puts in place of calls: from there on they are called."""

KEEP_ORDER = 'fence syncscope("singlethread") acq_rel'
"""Stands for no instruction. LLVM moves no access to memory past it."""


OF_TURNS = '"simt-turns"'
"""In the attributes of functions of turns: see `simt.engine.llvm_alone_vectors`."""


@quick
@dataclass(frozen=True, slots=True)
class Value:
    """An operand: its text without the type, the element type, and the number of lanes.

    `width` 1 is one scalar that stands for all lanes. `type`: "i1", "i8" .. "i64", "float", "double".
    """

    ir: str
    type: str
    width: int = 1

    @property
    def spelled(self) -> str:
        """The LLVM type: `float`, `<32 x float>`."""
        return spell(self.type, self.width)

    @property
    def typed(self) -> str:
        """The operand with its type, as in a call."""
        return f"{spell(self.type, self.width)} {self.ir}"

    @property
    def literal(self) -> int | None:
        """The bits of a scalar integer or predicate constant, else None."""
        return None if self.width != 1 else number_of(self)


def number_of(scalar: Value) -> int | None:
    """The bits of an integer or predicate constant, else None."""
    if scalar.type in ("float", "double"):  # whose text may be code that is made when somebody reads it
        return None
    text = scalar.ir
    return None if text[0] == "%" else _number(text, scalar.type)


@lru_cache(1024)
def _number(text: str, element: str) -> int | None:
    """The bits of an integer or predicate constant."""
    if element == "i1":
        return {"false": 0, "true": 1}.get(text)
    return int(text) % 2 ** int(element[1:]) if text.lstrip("-").isdecimal() else None


@cache
def spell(element: str, width: int) -> str:
    return element if width == 1 else f"<{width} x {element}>"


@cache
def mangled(element: str, width: int) -> str:
    """How intrinsic names write a type: `f32`, `v32i64`."""
    name = {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)
    return name if width == 1 else f"v{width}{name}"


def element_bits(element: str) -> int:
    """Bits of a lane of a type, as `Value.type` names it."""
    return int(mangled(element, 1)[1:])


@dataclass
class Builder:
    """The instructions of one function, in order."""

    lines: list[str] = field(default_factory=list[str])
    blocks: int = 0
    """Block names given so far."""
    last_label: int = 0
    """Lines before the latest label."""
    prefix: str = "%v"
    """Of names, which no other builder of the same function has."""
    behind: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Lines that were found to be needed after others had followed, by the number of the line before."""
    after: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The same by the line before, of which there is one only."""
    _values: int = 0
    _emitted: dict[str, tuple[str, int, str]] = field(default_factory=dict[str, tuple[str, int, str]])

    def emit(self, text: str) -> str:
        """Appends `%vN = text` and returns the name."""
        name = f"{self.prefix}{self._values}"
        self._values += 1
        self.lines.append(f"  {name} = {text}")
        return name

    def emit_once(self, text: str) -> str:
        """The same for an instruction without effects: where it stands already, after the latest label, only
        its name."""
        name, number, line = self._emitted.get(text, ("", 0, ""))
        if number > self.last_label and self.lines[number : number + 1] == [line]:
            return name
        name = self.emit(text)
        self._emitted[text] = name, len(self.lines) - 1, self.lines[-1]
        return name

    def forget(self) -> None:
        """Nothing that stands already is emitted "once" from here on: registers do not last."""
        self._emitted.clear()

    def void(self, text: str) -> None:
        """Appends an instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.last_label = len(self.lines)
        self.lines.append(f"{name}:")

    def complete(self) -> list[str]:
        """All lines, in order."""
        if not self.behind and not self.after:
            return self.lines
        behind, after = self.behind, self.after
        return [
            x for i, line in enumerate(self.lines) for x in (line, *behind.get(i, ()), *after.get(line, ()))
        ]

    @contextmanager
    def right_after(self, line: str) -> Generator[None]:
        """What is emitted meanwhile stands behind a line."""
        lines, self.lines = self.lines, list[str]()
        yield
        self.after.setdefault(line, []).extend(self.lines)
        self.lines = lines

    def block_name(self, hint: str) -> str:
        """A block name not given before."""
        self.blocks += 1
        return f"{hint}.{self.blocks}"


@dataclass
class ModuleText:
    """Declarations, constants and functions of a module, each once.

    `attributes` are put on the functions that primitives define for themselves (`target-cpu` and the
    like must agree with those of their callers).
    """

    attributes: str = "nounwind"
    inlined_lines: int = 0
    """Lines that LLVM will put in place of calls of `inlined` functions."""
    locks: bool = False
    """Whether code locks what it changes, unless a launch has one thread."""
    fetches: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """How code reads textures, geometry and type of coordinates, and the number of each way."""
    _declarations: dict[str, str] = field(default_factory=dict[str, str])
    _globals: dict[str, str] = field(default_factory=dict[str, str])
    _functions: dict[str, str] = field(default_factory=dict[str, str])
    _inlined: dict[str, str] = field(default_factory=dict[str, str])
    _names: dict[Hashable, str] = field(default_factory=dict["Hashable", str])

    def declare(self, name: str, result: str, parameters: tuple[str, ...]) -> str:
        """Declares a function and returns `@name`."""
        if name not in self._declarations:
            self._declarations[name] = f"declare {result} @{name}({', '.join(parameters)})"
        return f"@{name}"

    def constant(self, name: str, text: str) -> str:
        """`text` is what follows `@name = `: `private constant [4 x i32] ...`."""
        self._globals[name] = f"@{name} = {text}"
        return f"@{name}"

    def has(self, name: str) -> bool:
        return name in self._functions

    def unused(self, hint: str) -> str:
        """A name that no function has."""
        return f"{hint}.{len(self._functions)}"

    def of_key(self, key: Hashable, hint: str) -> tuple[str, bool]:
        """The name of the function for a key, and whether it is still to be defined."""
        is_new = key not in self._names
        return self._names.setdefault(key, f"{hint}.{len(self._names)}"), is_new

    def define(self, name: str, text: str) -> None:
        """Adds a function's whole definition under its name."""
        self._functions[name] = text

    @property
    def is_long(self) -> bool:
        """Whether functions are called from now on that LLVM inlines otherwise."""
        return self.inlined_lines > INLINED

    def inlined(
        self, hint: str, result: str, parameters: list[str], lines: list[str], in_place: bool = True
    ) -> str:
        """The name of a function, defined if it is new, that LLVM inlines wherever it is called, as long as
        there are not too many lines in all. `in_place`: whether it does so at all."""
        how = "alwaysinline" if in_place and not self.is_long else "noinline"
        self.inlined_lines += len(lines) if how == "alwaysinline" else 1
        body = "\n".join(lines)
        key = f"{how} {result} {parameters} {body}"
        if key not in self._inlined:
            name = self._inlined[key] = f"{hint}.{len(self._inlined)}"
            head = f"define internal {result} @{name}({', '.join(parameters)}) {how} {self.attributes}"
            self.define(name, f"{head} {{\n{body}\n}}")
        return self._inlined[key]

    def shared(self, hint: str, parameters: str, lines: list[str]) -> str:
        """The name of a function without result, defined if it is new, that is never inlined."""
        key = f"{parameters} " + "\n".join(lines)
        if key not in self._inlined:
            name = self._inlined[key] = f"{hint}.{len(self._inlined)}"
            head = f"define internal void @{name}({parameters}) noinline cold minsize {self.attributes}"
            self.define(name, "\n".join((f"{head} {{", *lines, "}")))
        return self._inlined[key]

    def __str__(self) -> str:
        parts = (*self._declarations.values(), *self._globals.values(), *self._functions.values())
        return "\n".join(parts) + "\n"
