"""Random CUDA programs, compiled by nvcc in several ways: `python -m tests.fuzz.by_nvcc 0 100` (needs nvcc).

One CTA's threads share words of memory at strides known at run time, call functions with references and
structures, index arrays of their own and exchange words in their warp. Every kernel is compiled in two of the
ways that nvcc has: for a debugger, with less optimisation, and as usual, for sm_80 and for sm_100. Both
engines then have to give the same bits.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simt
from simt.records import dataclass

BY_OLDER, BY_NEWER = (
    tuple((f"-arch=compute_{target}", *way) for way in (("-G",), ("-Xcicc", "-O0"), ("-Xcicc", "-O1"), ()))
    for target in (80, 100)
)
"""Ways, by either of the versions of LLVM that nvcc 13 has."""
WAYS = BY_OLDER + BY_NEWER
TYPES = {"int": "i4", "unsigned": "u4", "float": "f4"}
OUT = 4096
"""Words of each of the results."""

FUNCTIONS = """
struct Pair {
    T x, y;
    __device__ INLINE Pair(T a, T b) : x(a), y(b) {}
    __device__ INLINE T sum() const { return EXPR(x,y); }
    __device__ INLINE void move(T d) { x = EXPR(x,d); y = y + d; }
    __device__ INLINE T &part(int k) { return k & 1 ? x : y; }
};
__device__ INLINE T mixed(T a, T b) { T t = EXPR(a,b); if (a > b) t = t + 1; return t; }
__device__ INLINE void swapped(T &a, T &b) { T t = a; a = EXPR(b,t); b = t; }
__device__ INLINE T folded(T *q, int n) { T s = 0; for (int i = 0; i < n; i++) s = EXPR(s,q[i]); return s; }
__device__ INLINE T of_lane(T a, int k) { __syncwarp(); return __shfl_sync(~0u, a, k); }
__device__ INLINE T turned(T &a, volatile T &b, int n) {
    for (int i = 0; i < n; i++) { b = EXPR(a,b); if (b > a) a = a + 1; else if (i == 2) return b; }
    return a;
}
__device__ INLINE T walked(Pair p, int n) { for (int i = 0; i < n; i++) p.move((T)i); return p.sum(); }
"""

KERNEL = """
extern "C" __global__ void k(const T *a, T *out, int n, int m) {
    __shared__ T s[2 * SIZE + 64], z[SIZE + 64];
    int t = threadIdx.x, g = blockIdx.x * SIZE + t;
    T v = a[g], w = a[g + SIZE], q[4] = {v, w, 1, 2};
    Pair p(v, w);
BODY
    out[g] = v; out[g + OUT] = w; out[g + 2 * OUT] = p.sum(); out[g + 3 * OUT] = folded(q, 4);
}
"""

STATEMENTS = (
    "v = mixed(ANY, w);",
    "swapped(v, w);",
    "q[2] = ANY; w = folded(q, ONE{4|n & 3|t & 3});",
    "q[ONE{t & 3|n & 3|(t >> 2) & 3}] = ANY; v = v + q[ONE{t & 3|3 - (t & 3)|n & 3}];",
    "v = walked(p, ONE{3|n & 3|t & 3}); p = Pair(w, v);",
    "p.part(ONE{t|n|1}) = ANY;",
    "{ T &r = p.part(ONE{t|n|1}); r = ANY; v = v + p.x; r = EXPR(r,w); w = w + p.y; }",
    "if (ONE{t & 1|v > w|n & 1|t % 32 == 3}) v = mixed(v, w);"
    "w = w + of_lane(v, ONE{t & 7|n & 31|(t + 1) & 31});",
    "for (int i = 0; i < (n & 3); i++) { if (ONE{t & 1|v > w}) swapped(v, w);"
    "v = v + of_lane(w, (t + i) & 31); }",
    "{ volatile T y = ANY; w = turned(v, y, ONE{n & 3|t & 3|5}); v = v + y; }",
    "{ T y = q[1]; w = w + turned(p.part(t), ONE{y|q[2]|q[t & 3]}, ONE{n & 3|t & 3}) + y; }",
    "s[t] = ANY; __syncthreads();"
    "w = s[ONE{(t + n) % SIZE|SIZE - 1 - t|t ^ 1|t / 2|(t * m) % SIZE|(t * n + m) % SIZE}]; __syncthreads();",
    "s[t] = ANY; for (int h = 1; h < ONE{SIZE|n}; h *= 2) { __syncthreads();"
    "if (t % (2 * h) == 0 && t + h < SIZE) s[t] += s[t + h]; } __syncthreads(); v = s[0]; __syncthreads();",
    "s[t] = ANY; for (int h = 1; h < ONE{SIZE|n}; h *= 2) { __syncthreads(); int i = 2 * h * t;"
    "if (i + h < SIZE) s[i] += s[i + h]; } __syncthreads(); v = v + s[ONE{0|t}]; __syncthreads();",
    "s[t] = ANY; s[t + SIZE] = w; { int h = 1; for (int d = ONE{m|SIZE}; d > 0; d >>= 1) { __syncthreads();"
    "if (t < d && h * (2 * t + 2) - 1 < 2 * SIZE) s[h * (2 * t + 2) - 1] += s[h * (2 * t + 1) - 1];"
    "h *= 2; } } __syncthreads(); v = s[2 * t + 1]; w = s[t]; __syncthreads();",
    "s[t] = ANY; for (int h = ONE{SIZE / 2|m}; h > 0; h >>= 1) { __syncthreads();"
    "if (t < h && t + h < SIZE) s[t] += s[t + h]; } __syncthreads(); v = s[t]; __syncthreads();",
    "s[t] = ANY; for (int h = 1; h < ONE{SIZE|n}; h *= 2) { __syncthreads(); T y = t >= h ? s[t - h] : 0;"
    "__syncthreads(); s[t] += y; } __syncthreads(); w = s[t]; __syncthreads();",
    "z[t] = ANY; __syncwarp(); for (int h = 16; h > 0; h >>= 1) { T y = 0; if ((t & 31) < h) y = z[t + h];"
    "__syncwarp(); if ((t & 31) < h) z[t] += y; __syncwarp(); } v = z[t & ~31]; __syncwarp();",
    "v = v + __shfl_ONE{xor_sync(~0u, w, |down_sync(~0u, w, |sync(~0u, w, }ONE{1|n & 31|16|t & 7});",
    "for (int i = 0; i < ONE{n & 7|t & 7|5}; i++) { ONE{v = mixed(v, w);|swapped(v, w);"
    "|q[i & 3] = v; w = w + q[(i + 1) & 3];|w = ANY;|if (i == (t & 3)) continue; v = v + 1;} }",
    "if (ONE{t & 1|v > w|t % 5 == 2|n & 1}) { ONE{v = mixed(w, v);|swapped(v, w);|p.move(v);|q[t & 3] = w;} }"
    "else { ONE{w = folded(q, 4);|w = w + 1;|p = Pair(v, w);} }",
)
FOR_INTEGERS = (
    "z[t] = 0; __syncthreads(); if (ONE{1|t & 1|t % 3|v > w|t < n|t % 32 < 20})"
    "atomicONE{Add|Max|Xor|Or}(&z[(unsigned)(ONE{t|t / 4|t * m|(int)v|t % 7}) % SIZE], (T)ONE{1|v|t});"
    "__syncthreads(); w = z[t]; __syncthreads();",
)


@dataclass(frozen=True)
class Program:
    source: str
    type: str
    threads: int


def generate(rng: random.Random) -> Program:
    """Every CTA's threads are race-free: what one reads another wrote before a barrier."""
    t, threads = rng.choice(["int", "int", "unsigned", "float"]), rng.choice([32, 64, 96, 128, 256])
    known = STATEMENTS if t == "float" else STATEMENTS + FOR_INTEGERS
    values = ["v", "w", "(T)t", "p.x", "q[1]"]
    body = "\n".join(filled(rng.choice(known), rng, t, values) for _ in range(rng.randint(3, 8)))
    text = filled(FUNCTIONS, rng, t, values) + KERNEL.replace("BODY", body)
    for name, value in (("SIZE", threads), ("OUT", OUT)):
        text = text.replace(name, str(value))
    return Program(f"typedef {t} T;\n{text}", t, threads)


def filled(text: str, rng: random.Random, t: str, values: list[str]) -> str:
    """`ONE{a|b}` becomes one of the texts, `ANY` and `EXPR(a,b)` expressions of values."""
    while "ONE{" in text:
        before, _, rest = text.rpartition("ONE{")
        inside, _, after = rest.partition("}")
        text = before + rng.choice(inside.split("|")) + after
    while "INLINE" in text:
        text = text.replace("INLINE", rng.choice(["__noinline__", "__forceinline__", ""]), 1)
    while "EXPR(" in text:
        before, _, rest = text.partition("EXPR(")
        inside, _, after = rest.partition(")")
        text = before + _expression(rng, t, inside.split(",")) + after
    while "ANY" in text:
        text = text.replace("ANY", _expression(rng, t, values), 1)
    return text


def _expression(rng: random.Random, t: str, values: list[str], depth: int = 0) -> str:
    if depth > 2 or rng.random() < 0.3:
        return rng.choice(values)
    one, other = (_expression(rng, t, values, depth + 1) for _ in range(2))
    found = f"({one} {rng.choice('+-*' if t == 'float' else '+-*^&|')} {other})"
    if t != "float" and rng.random() < 0.15:
        found = f"({found} >> {rng.randint(1, 7)})"
    return f"({found} > {rng.randint(1, 7)} ? {values[0]} : 3)" if rng.random() < 0.1 else found


def compiled(cuda: str, way: tuple[str, ...], folder: Path) -> str:
    """PTX by nvcc."""
    source, target = folder / "k.cu", folder / "k.ptx"
    source.write_text(cuda)
    subprocess.run(["nvcc", "-ptx", "-w", *way, str(source), "-o", str(target)], check=True)
    return target.read_text()


def first_memory(program: Program) -> tuple[NDArray[Any], NDArray[Any]]:
    """What `a` and `out` hold before a launch."""
    kind = TYPES[program.type]
    return np.random.default_rng(7).integers(0, 50, 2 * OUT).astype(kind), np.zeros(4 * OUT, kind)


def launches(rng: random.Random, program: Program) -> Iterator[tuple[int, tuple[int, int]]]:
    """Grids, and what `n` and `m` are."""
    for _ in range(2):
        n = rng.choice([0, 1, 2, 3, 8, 31, 32, program.threads - 1, program.threads])
        yield rng.randint(1, 3), (n, rng.choice([1, 2, 3, 4, 8, 16, 33, program.threads]))


def outcome(engine: str, ptx: str, program: Program, grid: int, numbers: tuple[int, int]) -> Any:
    """The results, or what the fault says."""
    device = simt.Device("sm_100", engine=engine, memory="64MiB", timeout=60, workers=1)
    a, out = map(device.array, first_memory(program))
    try:
        device.load(ptx)["k"](grid, program.threads, (a, out, *map(np.int32, numbers)))
    except simt.KernelFault as fault:
        return str(fault)
    return out.numpy().copy()


def are_same(one: str | NDArray[Any], other: str | NDArray[Any]) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def main(first: int, end: int) -> int:
    """How many launches differ, of the programs of some seeds."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, end):
            rng = random.Random(seed)
            program = generate(rng)
            for way in rng.sample(WAYS, 2):
                ptx = compiled(program.source, way, Path(folder))
                for launch in launches(rng, program):
                    one, other = (outcome(e, ptx, program, *launch) for e in ("interpreter", "jit"))
                    if not are_same(one, other):
                        wrong += 1
                        print(f"seed {seed}, {' '.join(way)}, {launch}: engines differ", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
