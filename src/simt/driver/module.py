"""Loaded modules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from simt.analysis.outline import Function, ModuleVariable, Program
from simt.diagnostics import Diagnostic
from simt.driver.array import Allocation, DeviceArray
from simt.driver.kernel import Kernel
from simt.driver.structures import KernelOfStructures, has_structures
from simt.driver.texture import TextureReference
from simt.errors import LaunchError, SimtError
from simt.machine.grid import local_bytes
from simt.machine.launch import Launch
from simt.machine.loader import PLACED, place
from simt.machine.memory import Arena, parse_size
from simt.machine.syscalls import system_calls
from simt.ptx.types import BF16, OPAQUE, Kind, Type

if TYPE_CHECKING:
    from simt.driver.device import Device

_LETTERS = {Kind.SIGNED: "i", Kind.UNSIGNED: "u", Kind.FLOAT: "f"}


class Module:
    """A module on a device. `module["name"]` is a kernel, `symbol` a variable.

    `warnings` holds what the verifier found but accepted. Variables live as long as the module, its
    kernels or a symbol's array do.
    """

    def __init__(self, device: Device, program: Program, warnings: list[Diagnostic]) -> None:
        self.device = device
        self.program = program
        self.warnings = warnings
        self.memory: Arena = device.arena(program.address_bits)
        self._allocations: dict[int, Allocation] = {}
        self.symbols = place(program, self.memory, self._allocate)
        self.textures: dict[str, object] = {}
        self.launches: dict[object, list[Launch]] = {}
        """Launches made ready, to be used again: see `Kernel`."""
        self.last_launches: dict[str, Launch] = {}
        self._kernels: WeakValueDictionary[str, Kernel] = WeakValueDictionary()
        self._local_bytes: dict[tuple[str, int | str], int] = {}
        self._system_calls: dict[str, frozenset[str]] = {}

    def _allocate(self, nbytes: int, align: int) -> int:
        found = Allocation(self.memory, nbytes, align, lasting=True)
        self._allocations[found.address] = found
        return found.address

    @cached_property
    def as_written(self) -> Program:
        """The program with every branch of its text, for those who watch it being executed."""
        from simt.driver.source import compile_files  # only for tools: start-up time

        device = self.device
        files = self.program.text.files()
        return compile_files(files, device.properties, True, device.fmad, device.approx)[0]

    @property
    def kernels(self) -> list[str]:
        """The kernels' names, in the order of the file."""
        return self.program.kernels

    def __getitem__(self, name: str) -> Kernel:
        """A kernel by its name, or by its C++ name without parameters if that is unique: the same object, as
        long as somebody has it.

        Raises `LaunchError` naming the kernels that there are.
        """
        name = _name(name, "kernel")
        mangled = [k for k in self.kernels if k.startswith(f"_Z{len(name)}{name}")]
        found = name if name in self.kernels else mangled[0] if len(mangled) == 1 else None
        if found is None:
            raise LaunchError(_unknown("kernel", name, self.program.text.name, self.kernels))
        kernel = self._kernels.get(found)
        if kernel is None:
            function = self.program.functions[found]
            kind = KernelOfStructures if has_structures(function) else Kernel
            kernel = self._kernels[found] = kind(self, function)
        return kernel

    def __contains__(self, name: object) -> bool:
        return name in self.kernels

    def symbol(self, name: str) -> DeviceArray:
        """A module-scope `.global` or `.const` variable as an array of its type and shape.

        Raises `LaunchError` if there is no such variable.
        """
        variable = self.program.variables.get(_name(name, "variable"))
        if variable is None or variable.name not in self.symbols:
            names = [v.name for v in self.program.variables.values() if v.space in PLACED]
            raise LaunchError(_unknown("variable", name, self.program.text.name, names))
        allocation = self._allocations[self.symbols[name]]
        return DeviceArray(self.device, allocation, symbol_shape(variable), symbol_dtype(variable.type))

    def local_bytes(self, kernel: Function, stack: int | str) -> int:
        """Local memory of one thread of a kernel; computed once. `stack`: as `Device.stack_bytes`. Raises
        `LaunchError` past the limit, and if `stack` is no size."""
        key = (kernel.name, stack)
        if key not in self._local_bytes:
            try:
                size = parse_size(stack)
            except SimtError as problem:
                raise LaunchError(f"Device.stack_bytes: {problem}") from None
            self._local_bytes[key] = local_bytes(self.program, kernel, self.device.properties, size)
        return self._local_bytes[key]

    def system_calls(self, kernel: Function) -> frozenset[str]:
        """Functions of the system that a kernel can call; computed once. Raises `LaunchError` if it can
        call one that is neither in the module nor in the system."""
        if kernel.name not in self._system_calls:
            self._system_calls[kernel.name] = frozenset(system_calls(self.program, kernel))
        return self._system_calls[kernel.name]

    def texture(self, name: str) -> TextureReference:
        """A `.tex` or `.global .texref` variable, to bind an array to. Raises `LaunchError` if it is none."""
        names = [v.name for v in self.program.variables.values() if _is_texture(v)]
        if _name(name, "texture") not in names:
            raise LaunchError(_unknown("texture", name, self.program.text.name, names))
        return TextureReference(self, name)

    def __repr__(self) -> str:
        return f"<Module {self.program.text.name} with {', '.join(self.kernels) or 'no kernels'}>"


def _is_texture(variable: ModuleVariable) -> bool:
    """Whether it is one texture: a `.tex` variable up to PTX 1.4, a `.texref` since."""
    return variable.space == "tex" or (variable.type == OPAQUE["texref"] and not variable.shape)


def symbol_dtype(t: Type) -> np.dtype[Any]:
    """The NumPy type of a fundamental type; those that NumPy lacks are unsigned integers."""
    letter = "u" if t == BF16 else _LETTERS.get(t.kind, "u")
    return np.dtype(f"V{t.bytes}" if t.bits > 64 else f"{letter}{t.bytes}")


def symbol_shape(variable: ModuleVariable) -> tuple[int, ...]:
    return (*variable.shape, variable.vector) if variable.vector > 1 else variable.shape


def _name(given: object, what: str) -> str:
    if not isinstance(given, str):
        raise TypeError(f"a {what}'s name is a string, {given!r} given")
    return given


def _unknown(what: str, name: str, where: str, names: Iterable[str]) -> str:
    known = sorted(names)
    import difflib  # only for a message: start-up time

    close = difflib.get_close_matches(name, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    listed = ", ".join(known[:20]) + (" ..." if len(known) > 20 else "")
    return f"no {what} {name!r} in {where}{meant} ({what}s there: {listed or 'none'})"
