"""The benchmark's cases. Each gives rows of the report; none asserts anything about time."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from big_ptx import PROGRAMS, big_ptx
from timing import Row, medians, seconds

import simt

HERE = Path(__file__).resolve().parent
Case = Callable[[], list[Row]]


def saxpy() -> list[Row]:
    """16M floats through DRAM: the JIT against NumPy's in-place multiply and add."""
    n, a = 1 << 24, np.float32(0.5)
    device = simt.Device("sm_90", workers=1)
    kernel = device.load(PROGRAMS / "saxpy.ptx")["saxpy"]
    x, y = device.array(np.arange(n, dtype="f4")), device.zeros(n, "f4")
    host_x, host_y, product = x.numpy().copy(), np.zeros(n, "f4"), np.empty(n, "f4")

    def by_numpy() -> None:
        np.multiply(host_x, a, out=product)
        np.add(product, host_y, out=host_y)

    found = medians({"jit": lambda: kernel((n // 256,), (256,), (n, a, x, y)), "numpy": by_numpy}, 15)
    ratio = found["jit"] / found["numpy"]
    return [
        Row("saxpy 16M f32", "NumPy, in place", found["numpy"]),
        Row("saxpy 16M f32", "jit", found["jit"], "NumPy", ratio, "<= 1.3"),
    ]


def mandelbrot() -> list[Row]:
    """A divergent loop, 1024x1024 pixels, 256 iterations: the JIT against the interpreter."""
    runs: dict[str, Callable[[], object]] = {}
    for engine in ("jit", "interpreter"):
        device = simt.Device("sm_90", engine=engine, workers=1)
        kernel = device.load(PROGRAMS / "mandelbrot.ptx")["mandelbrot"]
        view = (np.float32(-2.2), np.float32(1.25), np.float32(2.5 / 1024), 256)
        arguments = (device.zeros((1024, 1024), "i4"), 1024, 1024, *view)
        runs[engine] = lambda kernel=kernel, arguments=arguments: kernel((32, 128), (32, 8), arguments)
    found = {**medians({"jit": runs["jit"]}, 9), "interpreter": seconds(runs["interpreter"])}
    ratio = found["interpreter"] / found["jit"]
    return [
        Row("mandelbrot 1024x1024x256", "jit", found["jit"]),
        Row("mandelbrot 1024x1024x256", "interpreter (one run)", found["interpreter"], "jit", ratio, ">= 20"),
    ]


def start_up() -> list[Row]:
    """A process's first result: with nothing compiled before, and with the object cache filled."""
    colds, warms, walls = [], [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as cache:
            colds.append(first_result(cache)[1])
            wall, spans = first_result(cache)
            walls.append(wall)
            warms.append(spans)
    python = median(seconds(lambda: subprocess.run([sys.executable, "-c", "import numpy"])) for _ in range(5))
    wall = median(walls)
    return [
        Row("first launch, cold", "compile and run", median(s["first"] for s in colds), "", None, "< 1 s"),
        Row("first launch, cached object", "link and run", median(s["first"] for s in warms)),
        Row("load, first", "import, parse, verify, lower", median(s["load"] for s in colds)),
        Row("load, again", "what was kept of the program", median(s["load"] for s in warms)),
        Row("second process", "`python -c 'import numpy'`", python),
        Row("second process", "start to first result", wall, "Python + NumPy", wall / python, "< 0.25 s"),
    ]


def first_result(cache: str) -> tuple[float, dict[str, float]]:
    """Wall time of a process that launches mandelbrot, and the spans that it reports."""
    command = [sys.executable, str(HERE / "first_result.py"), "mandelbrot", "mandelbrot"]
    # Byte code of the package is kept between processes, as it is for everybody who does not forbid it.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "SIMT_CACHE_DIR": cache}
    outputs: list[str] = []

    def run() -> None:
        outputs.append(
            subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        )

    return seconds(run), json.loads(outputs[0])


def front_end() -> list[Row]:
    """Parsing and verifying one megabyte of nvcc's PTX."""
    from simt.ptx.parser import parse
    from simt.verify import verify

    text = big_ptx(1 << 20)
    module, diagnostics = parse(text, "big.ptx")
    if module is None or diagnostics.errors:
        raise simt.PtxError(diagnostics.errors)
    if errors := verify(module).errors:
        raise simt.PtxError(errors[:5])
    found = medians({"parse": lambda: parse(text), "verify": lambda: verify(module)}, 5)
    case = f"{len(text) / 2**20:.2f} MB of PTX"
    return [
        Row(case, "parse", found["parse"]),
        Row(case, "verify", found["verify"]),
        Row(case, "both, for each MB", sum(found.values()) * 2**20 / len(text), "", None, "<= 2 s"),
    ]


def launches() -> list[Row]:
    """An empty kernel, launched from Python and in a captured sequence; nothing may be left behind."""
    rows: list[Row] = []
    for workers in (1, 2):
        device = simt.Device("sm_90", workers=workers)
        kernel = device.load(EMPTY)["empty"]
        with device.capture() as sequence:
            for _ in range(1000):
                kernel(1, 32)

        def many(kernel: simt.Kernel = kernel) -> None:
            for _ in range(10_000):
                kernel(1, 32)

        found = medians({"one by one": many, "captured": sequence}, 10)
        case = f"empty kernel, workers={workers}"
        rows += [
            Row(case, "a launch from Python", found["one by one"] / 10_000, "", None, "<= 20 us"),
            Row(case, "a launch in a captured sequence", found["captured"] / 1000, "", None, "<= 5 us"),
            leak(case, device, many),
        ]
    return rows


EMPTY = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry empty() { ret; }\n"


def leak(case: str, device: simt.Device, many: Callable[[], None]) -> Row:
    """100,000 more launches: what they add to device memory, threads, open files and resident memory."""

    def state() -> tuple[int, int, int, int]:
        files = len(os.listdir("/proc/self/fd")) if Path("/proc/self").exists() else 0
        kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return device.memory.used, threading.active_count(), files, kib

    before = state()
    taken = seconds(lambda: [many() for _ in range(10)])
    used, threads, files, kib = (now - then for now, then in zip(state(), before))
    added = f"added {used} B, {threads} threads, {files} files, {kib} KiB"
    return Row(case, f"100,000 launches: {added}", taken)


CASES: dict[str, Case] = {c.__name__: c for c in (saxpy, mandelbrot, launches, start_up, front_end)}
