"""Programs remembered from earlier processes, so that a file that was loaded before is not read again.

What the driver and a compiled kernel need of a program is small: names, parameters, sizes, variables. It is
kept in the object cache, by the text and by this package's code. Blocks of instructions are not: whatever
asks for them (a shape of CTA not compiled before, the interpreter, a tool) has the text parsed, verified and
lowered then. Remembered are programs of kernels without calls, which no warning was given for.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, cast

from simt.analysis.outline import Function, ModuleVariable, Parameter, Program
from simt.diagnostics import Diagnostic, Source
from simt.digests import digest
from simt.imports import import_whole
from simt.machine.device import DeviceProperties
from simt.ptx.environment import Approximation, Environment
from simt.ptx.types import OPAQUE, TYPES, Type

Json = dict[str, Any]
_LATER = ("blocks", "registers")
"""Fields of a function that are made when they are asked for."""
_EMPTY = ("parameters", "results", "missing")
"""Those that a remembered kernel has none of."""
_KEPT = tuple(name for name in Function.__match_args__ if name not in (*_LATER, *_EMPTY))


def load_program(
    text: str | bytes, name: str, device: DeviceProperties, fmad: bool = True, approx: Approximation = "fast"
) -> tuple[Program, list[Diagnostic]]:
    """As `simt.driver.source.compile_ptx`, from the cache if the text was loaded before."""
    from simt.engine.cache import ObjectCache

    cache, key = ObjectCache(), _key(text, device, fmad, approx)
    found = cache.load(key)
    if found is not None and cast("int", found[0]["target"]) <= device.number:
        return _restored(*found, text, name, device, fmad, approx), []
    import_whole("simt.driver.source")
    from simt.driver.source import compile_ptx

    program, warnings = compile_ptx(text, name, device, fmad, approx)
    if cache.usable and not warnings and _is_plain(program):
        cache.store(key, *_summary(program))
    return program, warnings


def _key(text: str | bytes, device: DeviceProperties, fmad: bool, approx: Approximation) -> str:
    """By the device too: limits (`.maxnctapersm`) and doubles (`map_f64_to_f32`) depend on it. By `fmad` and
    `approx`: the blocks that are made later do."""
    from simt.engine.cache import code_fingerprint

    data = b"bytes\0" + text if isinstance(text, bytes) else b"str\0" + text.encode("utf-8", "surrogatepass")
    return digest(f"program\0{device.name}\0{fmad}\0{approx}\0{code_fingerprint()}\0".encode(), data).hex()


def _is_plain(program: Program) -> bool:
    return all(f.is_kernel and not f.calls and not f.missing for f in program.functions.values())


# ---------------------------------------------------------------- to and from the cache


def _summary(program: Program) -> tuple[Json, bytes]:
    """A program without its blocks: a JSON header, and the initial images of its variables."""
    environment = program.environment
    variables = [_record(v) for v in program.variables.values()]
    header = {
        "target": environment.target,
        "version": environment.version,
        "map_f64_to_f32": environment.map_f64_to_f32,
        "fmad": environment.fmad,
        "address_bits": program.address_bits,
        "identity": program.identity,
        "kernels": [_function_record(f) for f in program.functions.values()],
        "variables": [{**v, "data": None if v["data"] is None else len(v["data"])} for v in variables],
    }
    return header, b"".join(v["data"] or b"" for v in variables)


def _record(item: ModuleVariable | Parameter) -> Json:
    return {name: getattr(item, name) for name in item.__match_args__} | {"type": item.type.name}


def _function_record(function: Function) -> Json:
    record = {name: getattr(function, name) for name in _KEPT}
    return record | {"kernel_parameters": [_record(p) for p in function.kernel_parameters]}


def _restored(
    header: Json, images: bytes, text: str | bytes, name: str, device: DeviceProperties, fmad: bool,
    approx: Approximation,
) -> Program:  # fmt: skip
    version = cast("tuple[int, int]", tuple(header["version"]))
    environment = Environment(
        version, header["target"], device.number, header["map_f64_to_f32"], approx, header["fmad"]
    )
    source = Source(text if isinstance(text, str) else text.decode("utf-8", "replace"), name)
    functions: dict[str, Function] = {}
    program = Program(
        functions, _variables(header, images), environment, header["address_bits"], source, header["identity"]
    )
    lock = RLock()

    def complete() -> None:
        """Makes the blocks of all functions."""
        import_whole("simt.driver.source")
        from simt.driver.source import compile_ptx

        with lock:
            whole = compile_ptx(text, name, device, fmad, approx)[0]
            for function in functions.values():
                function.blocks = whole.functions[function.name].blocks
                function.registers = whole.functions[function.name].registers

    for record in header["kernels"]:
        functions[record["name"]] = _kernel(record, complete)
    return program


def _variables(header: Json, images: bytes) -> dict[str, ModuleVariable]:
    found: dict[str, ModuleVariable] = {}
    start = 0
    for record in header["variables"]:
        length = record["data"]
        data = None if length is None else images[start : start + length]
        start += length or 0
        places = tuple(cast("Any", tuple(r)) for r in record["relocations"])
        shape, t = tuple(record["shape"]), _type(record["type"])
        values: Json = {**record, "data": data, "relocations": places, "shape": shape, "type": t}
        found[record["name"]] = ModuleVariable(**values)
    return found


def _type(name: str) -> Type:
    return TYPES.get(name) or OPAQUE[name]


class RememberedKernel(Function):
    """A kernel whose blocks and registers are made when something asks for them."""

    __slots__ = ("_complete",)

    _complete: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        """Python calls this for attributes that have no value yet."""
        if name not in _LATER:
            raise AttributeError(name)
        self._complete()
        return object.__getattribute__(self, name)


def _parameter(record: Json) -> Parameter:
    values: Json = {**record, "type": _type(record["type"])}
    return Parameter(**values)


def _kernel(record: Json, complete: Callable[[], None]) -> Function:
    parameters = tuple(_parameter(p) for p in record["kernel_parameters"])
    limits = {name: tuple(values) for name, values in record["limits"].items()}
    found = RememberedKernel.__new__(RememberedKernel)
    known: Json = {"kernel_parameters": parameters, "limits": limits}
    known |= {name: tuple(tuple(place) for place in record[name]) for name in ("factors", "ways")}
    values = {**record, **known, **dict.fromkeys(_EMPTY, ())}
    for name, value in values.items():
        setattr(found, name, value)
    found._complete = complete  # pyright: ignore[reportPrivateUsage]
    return found
