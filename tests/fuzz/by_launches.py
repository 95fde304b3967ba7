"""Random CUDA programs that are launched often: `python -m tests.fuzz.by_launches 0 100` (needs nvcc).

Strides come as parameters and change from launch to launch, some launches are repeated with the same objects,
made by other threads, or captured. Kernels ask again what they have asked, after the variable was changed or
not, have words behind branches, members of structures in turns, of which some are shared with another array,
and shuffles of 64 bits and of halves. Both engines have to give the same bits after each launch, and the same
faults.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import simt
from simt.records import dataclass
from tests.fuzz.by_nvcc import WAYS, compiled, filled
from tests.fuzz.by_places import APART
from tests.fuzz.seeds import run_seeds

TYPES = {"int": "i4", "unsigned": "u4", "float": "f4", "double": "f8", "short": "i2", "unsigned char": "u1"}
INDICES = ("int", "unsigned", "long long")
COUNT = 1 << 16
"""Elements of `a`; indices count from the one in the middle."""
OUT = 1024
"""Threads, at most."""

KERNEL = """
#include <cuda_fp16.h>
struct P { int r; I s; int w; long long x; };
extern "C" __global__ void k(const T *a, const int *p, T *b, T *e, double *out, I s0, I s1, I n, int k, PACK) {
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    I i = ONE{g|g|g|t|(g & 15)|g / 4};
    T v = t, u = 2;
    double d = g + 0.25, f = 1;
    long long q = g * 0x100000007LL;
    __half h = __float2half(t * 0.5f);
    __half2 hh = __floats2half2_rn(t, g * 0.25f);
    a += MIDDLE; b += OWN * OUT; e += OWN * OUT;
    ONE{|||if (i >= n) return;|if (t % 3 == 1) return;}
BODY
    out[g] = v; out[g + OUT] = u; out[g + 2 * OUT] = d; out[g + 3 * OUT] = f + i; out[g + 4 * OUT] = q;
    out[g + 5 * OUT] = __half2float(h) + __low2float(hh) + 3 * __high2float(hh);
}
"""  # noqa: E501
STEP = "ONE{s0|s0|s1|c.r|c.s|c.w|(I)c.x|k}"
STATEMENTS = """
v = v + a[i * STEPS] + a[ONE{i * STEPS|i * STEPS + 1|i * STEPS + s1|(i + 1) * STEPS}];
u = u + a[(i / 8) * STEPS + (i % 8) * STEPS];
for (int j = 0; j < ONE{4|(k & 7)}; j++) v = v + a[i * STEPS + j * STEPS];
{ const T *w = a + i * STEPS; for (int j = 0; j < ONE{3|(k & 3)}; j++) { v = v + *w; w += STEPS; } }
if (STEPS == ONE{1|0|2|STEPS}) v = v + a[i * STEPS]; else u = u + a[i * STEPS + 1];
{ I w = STEPS; if (w != 0) u = u + (T)(i / w) + a[i % w]; }
{ I r = i, o = 0; UNROLL for (int j = 0; j < 6; j++) { if (j == k) break; o += (r % 3) * ONE{s0|s1|c.r|c.s}; r /= 3; } v = v + a[o + r]; }
v = v + b[OWN * g + ((STEPS) & 1)]; b[OWN * g + 1] = v;
e[0 - OWN * g - 1 + ((STEPS) & 1) * 0] = u;
i = i ONE{+|-|*} STEPS;
if (ASKS) { INNER ONE{|i += 32;|i += k;|n -= 1;} } if (ASKS) { INNER ONE{|i += 32;|n -= 1;} } if (ASKS) { INNER }
if (i < n) { v = v + a[i]; i += STRIDE; if (i < n) { v = v + a[i]; i += STRIDE; if (i < n) { u = u + a[i]; } } }
if (i < n) { v = v + a[i]; i += STRIDE; } if (i < n) { v = v + a[i]; i += STRIDE; } if (i < n) { INNER i += STRIDE; }
if (i < n) { INNER } i = ONE{__shfl_sync(~0u, i, l0)|p[t]|(int)b[OWN * g]|i + 1|i}; if (i < n) { INNER }
for (int j = 0; j < 4; j++) if (PER * i + j < n) { LOADED; }
for (int j = 0; j < 4; j++) if (PER * i + j < n) { b[OWN * g + j] ONE{=|+=} a[PER * i + j]; }
for (int j = 0; j < 4; j++) if (PER * i + j < n) { b[OWN * g + j] += e[OWN * g + ONE{j|j + 1|3 - j|0}]; ONE{|INNER} }
for (int j = 0; j < 4; j++) { if (PER * i + j >= n) break; v = v + a[PER * i + j]; ONE{|b[OWN * g + j] = v;} ONE{|INNER} }
if (PER * i < n) { v = v + a[PER * i]; if (PER * i + 1 < n) { v = v + a[PER * i + 1]; ONE{|n = n - 1;|i = i + 1;} if (PER * i + 2 < n) u = u + a[PER * i + 2]; } }
for (int j = 0; j < 3; j++) if (PER * i + j < n) { v = v + __shfl_ONE{xor_|down_|}sync(~0u, u, 1); b[OWN * g + j] = v; }
TURNS
TURNS
TURNS
{ T x0 = MINE, x1 = MINE, x2 = MINE; MINE = v; MINE = x0; v = x1; MINE = u; u = x2 + MINE; }
{ T x0 = MINE, x1 = MINE; MINE = x1; x1 = MINE; MINE = x0 + MINE; ONE{|__syncwarp();|if (x1 > x0) MINE = 3;} MINE = x1; }
d = d + SHUFFLE(d); f = f * 0.5 + SHUFFLE(f);
q = q ONE{+|^|-} SHUFFLE(q);
v = v + SHUFFLE(v);
h = h + SHUFFLE(h); hh = hh + SHUFFLE(hh);
for (int j = ONE{16|16|8|k|WIDTH / 2|warpSize / 2}; j > 0; j ONE{/= 2|>>= 1}) VALUE ONE{+=|+=|= VALUE *} __shfl_ONE{down|xor|up}_sync(~0u, VALUE, j ONE{||, WIDTH});
for (int j = 1; j < ONE{32|16|n|k}; j *= 2) { VALUES x = __shfl_ONE{down|xor|up}_sync(~0u, VALUE, j ONE{||, WIDTH}); if (l0 >= j) VALUE += x; }
{ unsigned m = __ballot_sync(~0u, ASKS2); if (m >> (t & 31) & 1) { VALUE = VALUE + __shfl_ONE{down_|xor_|}sync(m, VALUE, ONE{1|k & 31|l0 & 7}); } }
d = d + q; q = q + (long long)d; f = d - f;
d = ONE{0.0 / (d - d)|1e300 * d * 1e10|-d|__longlong_as_double(q + 0x7ff0000000000000LL)};
if (ASKS) { INNER } else { INNER }
for (int j = 0; j < ONE{3|(k & 3)}; j++) { INNER INNER }
""".strip().splitlines()  # noqa: E501
INNER = (
    "v = v + a[i * STEPS];", "u = u + a[i];", "u = u + 1;", "b[OWN * g + 2] = v;", "v = v + e[OWN * g + 1];",
    "d = d + 1;", "v = v + a[PER * i + 1];", "TURNS",
)  # fmt: skip
ASKS = "ONE{i < n|i < n|t < k|i == n|v > u|(t & 1)|i + 1 < n|STEPS > 1|p[t] < k}"


@dataclass(frozen=True)
class Program:
    source: str
    type: str
    index: str
    own: int
    packed: bool


def generate(rng: random.Random) -> Program:
    """Threads are race-free, but for words that all give the same."""
    t, index, own = rng.choice([*TYPES]), rng.choice(INDICES), rng.choice([7, 7, 8, 8, 12, 16])
    text = KERNEL.replace("BODY", "\n".join(rng.choice(STATEMENTS) for _ in range(rng.randint(2, 6))))
    names = {
        "INNER": lambda: rng.choice(INNER),
        "TURNS": lambda: _turns(rng),
        "LOADED": lambda: "ONE{v = v + a[PER * i + j]|u = u + a[PER * i + j] * v|v = v + a[PER * i + 3 - j]}",
        "ASKS2": lambda: ASKS,
        "ASKS": lambda: ASKS,
        "STEPS": lambda: STEP,
        "MINE": lambda: "ONE{b|b|e}[OWN * g + ONE{0|1|2|3}]",
        "STRIDE": lambda: "ONE{32|32|blockDim.x|k|128|(I)blockDim.x * gridDim.x}",
        "WIDTH": lambda: str(rng.choice([2, 4, 8, 16, 32])),
    }  # fmt: skip
    text = _shuffled(text, rng)
    for name, made in names.items():
        while name in text:
            text = text.replace(name, made(), 1)
    types = {"d": "double", "f": "double", "q": "long long", "v": "T", "h": "__half", "hh": "__half2"}
    lines = list[str]()
    for line in text.split("\n"):
        kind = rng.choice([*types])
        lines.append(line.replace("VALUES", types[kind]).replace("VALUE", kind))
    text = filled("\n".join(lines), rng, "int", ["n", "k", "1", "t"])
    per = rng.choice([2, 3, 4, 4, 5, 8])
    for name, value in (("OUT", OUT), ("OWN", own), ("MIDDLE", COUNT // 2), ("PER", per), ("l0", "(t & 31)"),
                        ("UNROLL", "\n#pragma unroll\n")):  # fmt: skip
        text = text.replace(name, str(value))
    if t in ("short", "unsigned char"):
        text = text.replace("_sync(~0u, v,", "_sync(~0u, (int)v,").replace(
            "_sync(~0u, u,", "_sync(~0u, (int)u,"
        )
        text = text.replace("sync(m, v", "sync(m, (int)v")
    packed = rng.random() < 0.4
    text = text.replace("PACK", "P c" if packed else "int c_r, I c_s, int c_w, long long c_x")
    text = (
        text
        if packed
        else text.replace("c.r", "c_r").replace("c.s", "c_s").replace("c.w", "c_w").replace("c.x", "c_x")
    )
    return Program(f"typedef {t} T; typedef {index} I;\n{text}", t, index, own, packed)


def _turns(rng: random.Random) -> str:
    """Members in turns: each loaded and stored, of one array or the other."""
    found = list[str]()
    for place in rng.sample(range(4), rng.choice([2, 3, 4, 4])):
        to = f"ONE{{b|b|b|e}}[OWN * g + {place}]"
        other = f"b[OWN * g + {rng.randrange(4)}]"
        of = f"ONE{{{to}|{to}|{other}|e[OWN * g + {place}]|a[i + {place}]|a[PER * i + {place}]}}"
        found.append(f"{to} = {of} ONE{{+|-|*}} ONE{{v|u|3|a[i]}};")
    return " ".join(found)


def _shuffled(text: str, rng: random.Random) -> str:
    while "SHUFFLE(" in text:
        before, _, rest = text.partition("SHUFFLE(")
        inside, _, after = rest.partition(")")
        mode = rng.choice(["down", "up", "xor", ""])
        lane = rng.choice(["1", "16", "3", "k", "k & 31", "l0 ^ 1", "t / 2", "0", "n", "31 - l0", "-1"])
        width = rng.choice(["", "", ", WIDTH"])
        text = f"{before}__shfl_{mode}{'_' if mode else ''}sync(~0u, {inside}, {lane}{width}){after}"
    return text


@dataclass(frozen=True)
class Launch:
    grid: int
    block: int
    numbers: tuple[int, ...]
    """s0, s1, n, k, and the structure's r, s, w, x."""
    alias: int
    way: str


def launches(rng: random.Random, own: int, count: int) -> Iterator[Launch]:
    block = rng.choice([32, 32, 64, 128, 256, 40, 50])
    grid = rng.randint(1, max(1, min(8, OUT // block)))
    steps = [0, 1, 1, 1, 1, 2, 2, 3, 4, 8, 9, -1, -2]
    last: tuple[int, ...] = ()
    threads = grid * block
    lengths = [0, 1, 31, 32, 100, 1 << 20, threads, 4 * threads - 1, 4 * threads - 4, 4 * threads - 9]
    for _ in range(count):
        numbers = [rng.choice(steps), rng.choice(steps), rng.choice(lengths), rng.randint(0, 8)]
        numbers += [rng.choice(steps) for _ in range(4)]
        if last and rng.random() < 0.6:
            keep = rng.randrange(3)
            numbers = [one if keep == 2 or rng.random() < 0.7 else n for one, n in zip(last, numbers)]
        if rng.random() < 0.04:
            numbers[rng.choice([0, 1, 5])] = rng.choice([2**31 - 1, -(2**31), 2**20, 5000, 2**30 + 1])
        last = tuple(numbers)
        alias = rng.choice([0, 0, 0, 1, 2, own * OUT])
        yield Launch(
            grid, block, last, alias, rng.choice(["", "", "often", "turns", "turns", "thread", "captured"])
        )


def _made(
    device: simt.Device, kernel: Any, launch: Launch, args: tuple[Any, ...], before: tuple[Any, ...]
) -> None:
    def run(given: tuple[Any, ...] = args) -> None:
        kernel(launch.grid, launch.block, given)

    if launch.way == "thread":
        failed = list[Exception]()

        def guarded() -> None:
            try:
                run()
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=guarded)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
    elif launch.way == "captured":
        with device.capture() as sequence:
            run()
            run()
        sequence()
    elif launch.way == "turns":
        for _ in range(4):
            run(args)
        for _ in range(3):
            run(before)
            run(args)
    else:
        for _ in range(5 if launch.way == "often" else 1):
            run()


class Run:
    """A program on an engine, launch by launch."""

    def __init__(self, engine: str, cpu: str, ptx: str, program: Program) -> None:
        self.device = device = simt.Device(
            "sm_100", engine=engine, memory="64MiB", timeout=60, workers=1, cpu=cpu
        )
        rng, t = np.random.default_rng(3), TYPES[program.type]
        self.kind, self.size = program.index, np.dtype(t).itemsize
        room = device.zeros(APART, "u1")
        self.first = rng.integers(0, 50, 3 * program.own * OUT).astype(t)
        self.b, self.out = device.array(self.first), device.zeros(6 * OUT, "f8")
        self.p = device.array(rng.integers(0, 9, OUT, "i4"))
        self.a = device.array(rng.integers(0, 50, COUNT).astype(t))
        room.free()  # for what launches need: the last array is to end where memory does
        self.kernel, self.packed, self.before = device.load(ptx)["k"], program.packed, ()

    def outcome(self, launch: Launch) -> Any:
        self.b.copy_from(self.first)
        s0, s1, n, k, r, s, w, x = launch.numbers
        wide = self.kind == "long long"
        index = {"int": np.int32, "unsigned": np.uint32, "long long": np.int64}[self.kind]

        def as_index(v: int) -> Any:
            return (
                index(v % 2**32)
                if self.kind == "unsigned"
                else index(v)
                if wide
                else np.int32((v + 2**31) % 2**32 - 2**31)
            )

        fields = [("r", "i4"), ("s", np.dtype(index)), ("w", "i4"), ("x", "i8")]
        pack = np.zeros((), np.dtype(fields, align=True))
        for name, value in (("r", r), ("w", w), ("x", x)):
            pack[name] = value
        pack["s"] = as_index(s)
        rest = (pack.tobytes(),) if self.packed else (np.int32(r), as_index(s), np.int32(w), np.int64(x))
        rest = (as_index(s0), as_index(s1), as_index(n), np.int32(k), *rest)
        if sum(launch.numbers) % 3:
            rest = tuple([v if isinstance(v, bytes) else int(v) for v in rest])
        args = (self.a, self.p, self.b, self.b.ptr + self.size * launch.alias, self.out, *rest)
        before, self.before = self.before or args, args
        try:
            _made(self.device, self.kernel, launch, args, before)
        except simt.MemoryFault as fault:
            return str(fault).replace(f"0x{fault.address:x}", f"{fault.address - self.a.ptr:#x}")
        except simt.KernelFault as fault:
            return str(fault)
        return self.out.numpy().copy(), self.b.numpy().copy()


def difference(one: Any, other: Any, launch: Launch) -> str:
    if isinstance(one, str) and isinstance(other, str):
        alone = launch.grid == 1 and launch.block <= 32
        return f"{one} / {other}" if alone and one != other else ""
    if isinstance(one, str) or isinstance(other, str):
        return f"{one if isinstance(one, str) else ''} / {other if isinstance(other, str) else ''}"
    wrong = [np.flatnonzero(a.view("u1") != b.view("u1")) for a, b in zip(one, other)]
    return "".join(
        f"{len(w)} bytes of {name} differ from {w[0]} on; " for name, w in zip(("out", "b"), wrong) if len(w)
    )


def difference_at(seed: int, cpu: str, count: int, folder: Path) -> Iterator[str]:
    rng = random.Random(seed)
    program = generate(rng)
    way = rng.choice([*WAYS, (), (), ()])
    ptx = compiled(program.source, way, folder)
    one, other = (Run(engine, cpu, ptx, program) for engine in ("interpreter", "jit"))
    for number, launch in enumerate(launches(rng, program.own, count)):
        a, b = one.outcome(launch), other.outcome(launch)
        found = difference(a, b, launch)
        if found:
            yield f"seed {seed}, {' '.join(way)}, {number}: {launch}: {found}"
        if isinstance(a, str) or isinstance(b, str):  # memory may hold anything
            return


if __name__ == "__main__":
    sys.exit(run_seeds(__doc__, lambda rng: generate(rng).source, difference_at, 8))
