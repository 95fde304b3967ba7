"""The ways to solve a problem. Each holds its own copy of the arrays; what is not on the machine says so."""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import simt
from suite.problem import KERNELS, Array, Entry, Launch, Problem, Program, pair

SUITE = KERNELS.parent
BUILD = SUITE.parent.parent / "build" / "bench"
GCC_OPTIONS = (
    "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp-simd", "-fno-math-errno",
    "-fno-trapping-math", "-std=gnu11", "-w", "-fPIC", "-shared",
)  # fmt: skip


class LeftOut(Exception):
    """This version does not exist here; the text says why."""


class Version(Protocol):
    """A built version with its own arrays."""

    def array(self, name: str) -> Array:
        """The array's present values. Writing to it is `put`."""
        ...

    def put(self, name: str, values: Array) -> None: ...

    def run(self) -> None:
        """Solves the problem once and returns when it is solved."""
        ...


class OnHost:
    """A version whose arrays are NumPy's."""

    def __init__(self, problem: Problem) -> None:
        self.arrays = {name: aligned(values) for name, values in problem.arrays.items()}
        self.parameters = [self.arrays[name] for name in problem.native or problem.arrays]

    def array(self, name: str) -> Array:
        return self.arrays[name]

    def put(self, name: str, values: Array) -> None:
        self.arrays[name][...] = values


class Native(OnHost):
    """C by gcc."""

    def __init__(self, problem: Problem, function: Any) -> None:
        super().__init__(problem)
        self.function = function
        self.arguments = [ctypes.c_void_p(a.ctypes.data) for a in self.parameters]
        self.arguments += [as_c(s) for s in problem.scalars.values()]

    def run(self) -> None:
        self.function(*self.arguments)


class Threads(Native):
    """C on a number of threads, as few kernels have it."""

    def __init__(self, problem: Problem, function: Any, threads: int) -> None:
        super().__init__(problem, function)
        self.arguments.insert(0, ctypes.c_int(threads))


def compiled(entry: Entry, style: str) -> Any:
    """An entry's C: `plain`, `spmd` or `threads`. Raises `LeftOut`."""
    source = KERNELS / (entry.native or entry.folder) / f"{style}.c"
    half = ("-DREAL=_Float16",) if "-DHALF" in entry.defines else ()
    return compile_c(source, BUILD / f"{entry.name}.{style}.so", *entry.defines, *half, f"-I{SUITE}")


def compile_c(source: Path, library: Path, *more: str) -> Any:
    """The function `run` of a C file. Raises `LeftOut`."""
    BUILD.mkdir(parents=True, exist_ok=True)
    options = [*GCC_OPTIONS, *more]
    command = [os.environ.get("CC", "gcc"), *options, str(source), "-o", str(library), "-lmvec", "-lm"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise LeftOut("gcc is not on this machine") from None
    except subprocess.CalledProcessError as error:
        raise LeftOut(f"gcc: {first_error(error.stderr)}") from None
    function: Any = ctypes.CDLL(str(library)).run
    function.restype = None
    return function


def as_c(scalar: Any) -> Any:
    ctypeslib: Any = np.ctypeslib  # its types know less than it does
    return ctypeslib.as_ctypes_type(scalar.dtype)(scalar)


def first_error(text: str) -> str:
    """The first message of a compiler, without the path of the file."""
    lines = [line for line in text.splitlines() if "error:" in line] or text.splitlines()[:1] or ["failed"]
    return lines[0].rpartition("error: ")[2].strip()[:200]


class Numba(OnHost):
    """Plain Python loops compiled by Numba for one thread."""

    def __init__(self, entry: Entry, problem: Problem) -> None:
        super().__init__(problem)
        if entry.real == np.float16:
            raise LeftOut("Numba has no half precision on CPUs")
        numba = optional("numba")
        self.function = entry.native_case.version(entry.real, numba.njit(error_model="numpy"))
        self.arguments = [*self.parameters, *problem.scalars.values()]

    def run(self) -> None:
        self.function(*self.arguments)


class Virtual:
    """`simt`: the PTX file on the virtual GPU."""

    def __init__(
        self, entry: Program, problem: Problem, workers: int, engine: str = "jit", arch: str = "sm_90"
    ) -> None:
        self.device = simt.Device(arch, workers=workers, engine=engine, approx=entry.approx)
        module = self.device.load(entry.ptx)
        self.arrays = {name: self.device.array(values) for name, values in problem.arrays.items()}
        known: dict[str, object] = {**self.arrays, **problem.scalars}
        self.calls = [
            (module[launch.kernel], launch.grid, launch.block, tuple(resolved(launch, known)), launch.shared)
            for launch in problem.launches
        ]

    def array(self, name: str) -> Array:
        return self.arrays[name].numpy()

    def put(self, name: str, values: Array) -> None:
        self.arrays[name].numpy()[...] = values

    def run(self) -> None:
        for kernel, grid, block, arguments, shared in self.calls:
            kernel(grid, block, arguments, shared)

    @property
    def interpreted(self) -> dict[str, str]:
        """Kernels that the JIT did not compile, and why."""
        return dict(getattr(self.device.engine, "reasons", {}))


class OpenCl:
    """The same kernels through PoCL."""

    def __init__(self, entry: Entry, problem: Problem) -> None:
        cl = opencl()
        if entry.real == np.float16:
            raise LeftOut("this PoCL has no half precision")
        devices = [d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices()]
        if not devices:
            raise LeftOut("PoCL is not on this machine (Debian: pocl-opencl-icd)")
        self.cl, context = cl, cl.Context(devices[:1])
        self.queue = cl.CommandQueue(context)
        source = (KERNELS / entry.folder / "kernel.cu").read_text()
        options = [*entry.defines, f"-I{SUITE}", *(["-cl-denorms-are-zero"] if entry.ftz else [])]
        try:
            program = cl.Program(context, source).build(options)
        except cl.Error as error:
            raise LeftOut(f"PoCL: {first_error(str(error))}") from None
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.problem = problem
        self.buffers = {n: cl.Buffer(context, flags, hostbuf=v) for n, v in problem.arrays.items()}
        known: dict[str, object] = {**self.buffers, **problem.scalars}
        self.calls = [self._call(program, launch, known) for launch in problem.launches]

    def _call(self, program: Any, launch: Launch, known: dict[str, object]) -> Callable[[], object]:
        kernel = self.cl.Kernel(program, launch.kernel)
        kernel.set_args(*resolved(launch, known))
        grid, block = pair(launch.grid), pair(launch.block)
        threads = (grid[0] * block[0], grid[1] * block[1])
        return lambda: self.cl.enqueue_nd_range_kernel(self.queue, kernel, threads, block)

    def array(self, name: str) -> Array:
        values = np.empty_like(self.problem.arrays[name])
        self.cl.enqueue_copy(self.queue, values, self.buffers[name])
        return values

    def put(self, name: str, values: Array) -> None:
        self.cl.enqueue_copy(self.queue, self.buffers[name], values)

    def run(self) -> None:
        for call in self.calls:
            call()
        self.queue.finish()


def opencl() -> Any:
    os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")
    os.environ.setdefault("POCL_CPU_MAX_CU_COUNT", "1")  # the same in newer releases
    pyopencl = optional("pyopencl")
    try:
        pyopencl.get_platforms()
    except pyopencl.Error:
        raise LeftOut("no OpenCL platform on this machine (Debian: pocl-opencl-icd)") from None
    return pyopencl


def optional(name: str) -> Any:
    """A module that need not be there. Raises `LeftOut`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise LeftOut(f"{name} is not installed") from None


def resolved(launch: Launch, known: dict[str, object]) -> list[object]:
    return [known[a] if isinstance(a, str) else a for a in launch.args]


def aligned(values: Array) -> Array:
    """A copy that starts on a cache line, as the virtual GPU's arrays do."""
    room = np.zeros(values.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def builders(workers: int = 1) -> dict[str, Callable[[Entry, Problem], Version]]:
    """Every kind of version by the name that the report gives it; `simt` first."""
    return {
        "simt": lambda entry, problem: Virtual(entry, problem, workers),
        "plain C": lambda entry, problem: Native(problem, compiled(entry, "plain")),
        "SPMD C": lambda entry, problem: Native(problem, compiled(entry, "spmd")),
        "PoCL": OpenCl,
        "Numba": Numba,
    }
