"""Random CUDA programs about places in memory, compiled by nvcc: `python -m tests.fuzz.by_places 0 100`.

Threads share structures of odd sizes, cut their index by divisors that are known when the kernel runs, load
and store words under guards, and members of structures that stores may have changed. Arrays may be too short
for that, divisors zero, and indices wrap. Both engines have to give the same bits, and the same faults.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import simt
from simt.analysis.shape import WARP
from simt.records import dataclass
from tests.fuzz.by_nvcc import WAYS, compiled, filled
from tests.fuzz.seeds import run_seeds

TYPES = ("int", "unsigned", "float")
INDICES = {"int": "i4", "unsigned": "u4", "long long": "i8", "unsigned long long": "u8"}
MEMBERS = ("T f[WORDS];", "T f[WORDS]; unsigned char c[4 * HALVES];", "short h; short c[HALVES];",
           "unsigned short h; unsigned char c[2 * HALVES];", "char h; signed char c[HALVES];",
           "T f[WORDS]; short c[2 * HALVES];", "double d; T f[2 * WORDS];")  # fmt: skip
ALIGNED = 128
"""Words: allocations have no other bytes behind their end then, that are anything."""
SHORT, LONG = 23, 512
"""Words of arrays, by as many."""
OUT = 2048
APART = 1 << 23
"""Bytes between what is stored and what is only loaded: an index may be too large, or below zero."""
OWN = 12
"""Words of each thread's own."""

KERNEL = """
struct S { MEMBERS };
extern "C" __global__ void k(const T *a, const S *s, const int *p, T *b, T *e, T *out, I n, I m, I w, I h) {
    __shared__ T z[1024];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int per = blockDim.x * blockDim.y * blockDim.z, g = (blockIdx.x + gridDim.x * blockIdx.y) * per + t;
    int l = ONE{threadIdx.x|t|(t & 31)|threadIdx.y};
    I i = ONE{g|(I)blockIdx.x * blockDim.x + threadIdx.x|(I)blockIdx.x * blockDim.x + threadIdx.x|
        (I)blockIdx.x * per + t|blockIdx.y * (I)blockDim.y + threadIdx.y};
    T v = t, u = 2, x0 = 1, x1 = 2, x2 = 3, x3 = 4;
    I x = t, y = g, c = l, r = i;
    z[t] = t;
    ONE{||if (i >= n) return;|if (t % 3 == 1) return;|if (i < w) return;}
BODY
    out[g] = v; out[g + OUT] = u; out[g + 2 * OUT] = (T)(x + 3 * y + 5 * c); out[g + 3 * OUT] = x0 + 3 * x1 + 5 * x2 + 7 * x3;
}
"""  # noqa: E501
BEYOND = "z[t] = t; z[t + per] = l; z[t + 2 * per] = 7;"
"""For threads that read words of others, up to `z[t + 32]`, which small CTAs have no thread for. Shared
memory begins with anything: zeros on the interpreter, what the CTA before has left on the JIT."""
CUT = "(ONE{i|i|i|i|r|i + ANY|y|i * 2|c|(I)l|i - m|t|(I)p[t]})"
DIVISOR = "ONE{w|w|h|(w * h)|(w * h)|m|(w + 7)|3|48|(I)100}"
STATEMENTS = (
    """
{ I q = CUTS, o = DIVISORS; x = q / o; r = q % o; y = r / w; c = r % w; }
{ I q = CUTS; x = q / (w * h); r = q % (w * h); y = r / w; c = r % w; }
{ I q = CUTS; x = q / (w * h); r = q % (w * h); y = r / w; c = (r - y * w + i) % DIVISORS; }
{ I q = CUTS; r = q / w; x = q % w; c = r % h; y = r / h; }
{ I q = CUTS, o = DIVISORS; y = q / o; c = q - y * o; }
{ I q = CUTS, o = DIVISORS; x = q / o; r = q - x * o; }
r = CUTS / DIVISORS;
r = CUTS; c = r % DIVISORS; r = r / DIVISORS; y = r % DIVISORS; x = r / DIVISORS;
{ long long q = ((long long)n << ONE{31|32|20}) + i; x = (I)(q / ONE{w|h|m|3}); y = (I)(q % ONE{w|h|m|100}); }
v = v + LOAD(PLACE);
u = u + LOAD(PLACE) * 3; v = v + LOAD(PLACE);
v = v + LOAD(PLACE + 1) - LOAD(PLACE + w);
b[OWN * g + 7] = v; u = u + LOAD(PLACE);
{ const S *q = &s[MEMBER]; v = v + PART; u = u * 3 + PART; ONE{|v = v + PART;|x0 = PART; x1 = PART;} }
{ const S *q = &s[ONE{p[t]|p[t] & 3|p[l] + l|p[i & 63]}]; v = v + PART; u = u * 3 + PART + PART; }
for (int j = 0; j < ONE{5|TURNS}; j++) { const S *q = &s[MEMBER + ONE{j|j * 8|j * 16|0|j * m}];~
 v = v + PART; ONE{|u = u * 3 + PART;|u = u + PART * PART;|if (j == 2) continue; u += 1;} }
for (int j = ONE{0|l / 4|t % 4|(l & 7)}; j < ONE{9|(n & 15)|l + 3}; j += ONE{1|4|8|(m & 3) + 1})~
 v = v * 3 + ONE{a[j]|a[j * 4 + l % 4]|s[j].SPOT|a[(l / 4) * m + j]|a[l / 2 + j * 5]};
x0 = MINE[ONE{0|1|2}]; OTHER[ONE{0|1|2}] = v; x1 = MINE[ONE{0|1|2|3}]; x2 = MINE[ONE{2|3}];
x0 = MINE[0]; x1 = MINE[ONE{1|5}]; x2 = MINE[2]; OTHER[ONE{1|2|3}] = u; x3 = MINE[3];
MINE[1] = x0; OTHER[ONE{1|2|3}] = x1; MINE[3] = v; u = u + OTHER[2];
x0 = MINE[1]; x3 = ((volatile T *)b)[OWN * g + ONE{1|2}]; ((volatile T *)e)[OWN * g + 1] = v; x1 = MINE[2];
x0 = MINE[4]; if (ONE{v > u|t & 1|i < n|n > 3}) OTHER[4] = 9; x1 = MINE[5]; x2 = MINE[4];
for (int j = 0; j < ONE{4|(n & 7)}; j++) { v = v + MINE[j]; OTHER[ONE{0|1|j}] = v; u = u + MINE[j + 1]; }
x0 = a[i * STEP]; x1 = a[i * STEP + 1]; x2 = a[i * STEP + ONE{2|1}]; x3 = a[i * STEP + ONE{0|2}];
if (i < n) { v = v + a[i * STEP] + a[i * STEP + 1]; if (i + 1 < n) u = a[i * STEP + 2]; }
GUARDED_LOADS(a + STEP * i, STEP * i)
GUARDED_LOADS(a + STEP * i, STEP * i) GUARDED_STORES(b + OWN * g, ONE{OWN * g|STEP * i})
GUARDED_STORES(b + OWN * g, ONE{OWN * g|g|STEP * g}) GUARDED_LOADS(e + OWN * g, ONE{OWN * g|g})
SYNC if (t < ONE{1|2|4|8|16|5|n}) { z[t] = v; ONE{u = z[t] + 1;|z[t] += u;|x0 = z[t];} } SYNC~
 v = v + z[ONE{t|0|t / 2|t ^ 1|l}]; SYNC
SYNC if (t < ONE{1|2|4|8|16|5}) { z[t] = v; ONE{u = z[t + 16];|z[t] += z[t + 16];|x0 = z[t + 32];} } SYNC
z[t] = v; SYNC for (int k = ONE{16|8|4}; k > 0; k >>= 1) { if (t < k) z[t] += z[t + k]; SYNC }~
 u = u + z[ONE{0|t}]; SYNC
if (ONE{t < w|i >= n|t % 2|x > y}) { INNER } else { INNER }
if (ONE{t < w|i >= n|t % 2|x > y|c == 0|x < 1}) { INNER }
for (int j = 0; j < ONE{3|TURNS}; j++) { INNER INNER }
i = i + ONE{n|m|w|gridDim.x * per};
""".replace("~\n", "")
    .strip()
    .splitlines()
)
INNER = tuple(s for s in STATEMENTS if "SYNC" not in s and "INNER" not in s and "GUARDED" not in s)
INTEGERS = ("SYNC atomicAdd(&z[ONE{t|(I)t + m|l|t / 4|c}& 1023], (T)ONE{1|v}); SYNC u = u + z[t]; SYNC",)
WORDS = """{{ int at = (int)({at}); asm volatile("{{.reg .pred p<4>; .reg .b32 j<4>;"
"add.s32 j1,%5,1; add.s32 j2,%5,2; add.s32 j3,%5,3;"
"setp.lt.s32 p0,%5,%6; setp.lt.s32 p1,j1,%6; setp.lt.s32 p2,j2,%6; setp.lt.s32 p3,j3,%6;"
"{body}}}" : "+r"(*(int *)&x0), "+r"(*(int *)&x1), "+r"(*(int *)&x2), "+r"(*(int *)&x3)
: "l"({address}), "r"(at), "r"((int)n) : "memory"); }}"""
"""Four words under guards, as Triton writes them."""


@dataclass(frozen=True)
class Program:
    source: str
    type: str
    index: str


def generate(rng: random.Random) -> Program:
    t, index = rng.choice(TYPES), rng.choice([*INDICES])
    known = STATEMENTS if t == "float" else [*STATEMENTS, *INTEGERS]
    body = "\n".join(rng.choice(known) for _ in range(rng.randint(2, 7)))
    while "INNER" in body:
        body = body.replace("INNER", rng.choice(INNER), 1)
    text = KERNEL.replace("BODY", body).replace("MEMBERS", rng.choice(MEMBERS))
    text = _with_places(text, rng)
    text = filled(text, rng, t, ["n", "m", "1", "t", "l"])
    if re.search(r"z\[t [+^]", text):
        text = text.replace("z[t] = t;", BEYOND)
    for name, value in (("OUT", OUT), ("OWN", OWN), ("LONG", LONG * ALIGNED), ("SYNC", "__syncthreads();")):
        text = text.replace(name, str(value))
    return Program(f"typedef {t} T; typedef {index} I;\n{text}", t, index)


PLACE = (
    "ONE{(x * h + y) * w + c|(x * h + y) * w + c|y * w + c|x|r|c + x|x * 40 + y|i|y * 2 + c|x * 2|i + c"
    "|(x + y) * ONE{w|16} + c|l / 4 * 9 + l % 4 + x}"
)
MEMBER = (
    "ONE{l / 2|l / 4|l / 8|l >> 3|i / 4|(i >> 1)|l / 4 * 2|x + l / 4|l|(l & ~3)|(t / 4) * m|n + l / 2"
    "|(l + n) / 4|l % 4|(l & 28) / 2}"
)
PART = "ONE{l % 2|l % 4|l & 3|l & 1|0|1|2|(l & 7) / 2|j0}"


def _with_places(text: str, rng: random.Random) -> str:
    """With places of memory, members and guarded words in place of their names."""
    members = text.partition("struct S {")[2].partition("}")[0]
    fields = [f for f in ("f", "c") if f" {f}[" in members]
    words, halves = rng.randint(3, 12), rng.randint(3, 20)
    text = text.replace("WORDS", str(words)).replace("HALVES", str(halves))
    while "GUARDED_" in text:
        before, _, rest = text.partition("GUARDED_")
        kind, _, rest = rest.partition("(")
        inside, rest = _inside(rest)
        address, at = inside.split(",", 1)
        text = before + _guarded(kind, address, at, rng) + rest
    for name, choice in (
        ("PLACE", PLACE),
        ("MEMBER", MEMBER),
        ("CUTS", CUT),
        ("DIVISORS", DIVISOR),
        ("MINE[", "b[OWN * g + "),
        ("OTHER[", "ONE{e|b}[OWN * g + "),
        ("TURNS", "(ONE{n|m|t|w} & 7)"),
        ("STEP", str(rng.choice([2, 3, 3, 4, 4, 5, 7]))),
    ):
        text = text.replace(name, choice)
    while "SPOT" in text or "PART" in text:
        name = "SPOT" if "SPOT" in text else "PART"
        lane = PART.replace("|j0", "") if "f" not in fields else PART.replace("j0", str(words - 1))
        spot = f"{rng.choice(fields)}[{lane}]"
        text = text.replace(name, spot if name == "SPOT" else f"(T)q->{spot}", 1)
    while "LOAD(" in text:
        before, _, rest = text.rpartition("LOAD(")
        inside, rest = _inside(rest)
        safe = f"((unsigned long long)({inside}) < LONG - 9 ? a[{inside}] : (T)7)"
        text = before + (f"a[{inside}]" if rng.random() < 0.6 else safe) + rest
    return text


def _inside(text: str) -> tuple[str, str]:
    """What stands before the parenthesis that closes, and behind it."""
    deep = 1
    for at, letter in enumerate(text):
        deep += (letter == "(") - (letter == ")")
        if not deep:
            return text[:at], text[at + 1 :]
    raise ValueError(text)


def _guarded(kind: str, address: str, at: str, rng: random.Random) -> str:
    order = rng.sample(range(4), rng.choice([2, 3, 4, 4]))
    guards = {word: word if rng.random() < 0.8 else rng.randrange(4) for word in order}
    if kind == "LOADS":
        ops = [f"@p{guards[k]} ld.global.b32 %{k},[%4+{4 * k}];" for k in order]
    else:
        ops = [f"@p{guards[k]} st.global.b32 [%4+{4 * k}],%{k};" for k in order]
    if rng.random() < 0.3:
        changed = rng.choice(["not.pred p{0},p{0};", "setp.gt.s32 p{0},%5,7;", "@p{0} add.s32 %{0},%{0},1;"])
        ops.insert(rng.randint(1, len(ops)), changed.format(rng.randrange(4)))
    return WORDS.format(at=at, body="".join(ops), address=address)


@dataclass(frozen=True)
class Launch:
    grid: tuple[int, int]
    block: tuple[int, int, int]
    words: int
    numbers: tuple[int, ...]
    alias: int


BLOCKS = (
    (32, 1, 1), (32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (256, 1, 1), (20, 1, 1), (33, 1, 1),
    (50, 1, 1), (16, 4, 1), (8, 8, 1), (32, 4, 1), (5, 7, 2), (64, 2, 1), (13, 3, 1), (16, 2, 2),
)  # fmt: skip


def launches(rng: random.Random, program: Program, count: int) -> Iterator[Launch]:
    kind = np.iinfo(INDICES[program.index])
    blocks = rng.sample(BLOCKS, 2)
    for _ in range(count):
        block = rng.choice(blocks)
        most = max(1, min(8, OUT // int(np.prod(block))))
        grid = rng.choice([(1, 1), (rng.randint(1, most), 1), (max(1, most // 2), 2 if most > 1 else 1)])
        sizes = [rng.choice([1, 2, 3, 5, 16, 20, 32, 33, 40, 64, 95, 100, 200, rng.randint(17, 300)])
                 for _ in range(2)]  # fmt: skip
        numbers = [rng.choice([0, 1, 7, 30, 99, 127, 500, rng.randint(0, 600)]), rng.randint(0, 9), *sizes]
        if rng.random() < 0.2:
            near = rng.choice([0, 0, kind.max, kind.min, 2**31, -(2**31), 2**32])
            numbers[rng.randrange(4)] = near + rng.randint(-40, 5)
        yield Launch(grid, block, ALIGNED * rng.choice([LONG, LONG, LONG, SHORT, rng.randint(1, 6)]),
                     tuple(numbers), rng.choice([0, 0, 1, 2]))  # fmt: skip


def outcome(engine: str, cpu: str, ptx: str, program: Program, launch: Launch) -> Any:
    """All results, or what the fault says, of an address that counts from the first array's."""
    device = simt.Device("sm_100", engine=engine, memory="64MiB", timeout=60, workers=1, cpu=cpu)
    t = {"int": "i4", "unsigned": "u4", "float": "f4"}[program.type]
    rng, kind = np.random.default_rng(3), INDICES[program.index]
    first = [np.zeros(4 * OUT, t), rng.integers(0, 50, OUT * OWN + ALIGNED).astype(t), np.zeros(APART, "u1"),
             rng.integers(0, 40, OUT, "i4"), rng.integers(0, 120, 8 * launch.words, "u1"),
             rng.integers(0, 50, launch.words).astype(t)]  # fmt: skip
    room = device.zeros(APART, "u1")
    arrays = [device.array(array) for array in first]
    room.free()  # for what launches need: the last array is to end where memory does
    out, b, _, p, s, a = arrays
    wrapped = [np.array(n % 2 ** (8 * np.dtype(kind).itemsize), kind.replace("i", "u")).view(kind)[()]
               for n in launch.numbers]  # fmt: skip
    arguments = (a, s, p, b, b.ptr + 4 * launch.alias, out, *wrapped)
    try:
        device.load(ptx)["k"](launch.grid, launch.block, arguments)
    except simt.MemoryFault as fault:
        return str(fault).replace(f"0x{fault.address:x}", f"{fault.address - out.ptr:#x}")
    except simt.KernelFault as fault:
        return str(fault)
    return np.concatenate([array.numpy().view("u4") for array in (b, out)])


def difference(one: Any, other: Any, launch: Launch) -> str:
    """How outcomes differ, empty if they do not. Which of several warps is the first is left open."""
    if isinstance(one, str) and isinstance(other, str):
        alone = launch.grid == (1, 1) and int(np.prod(launch.block)) <= WARP
        return f"{one} / {other}" if alone and one != other else ""
    if isinstance(one, str) or isinstance(other, str):
        return f"{one if isinstance(one, str) else ''} / {other if isinstance(other, str) else ''}"
    wrong = np.flatnonzero(one != other)
    return f"{len(wrong)} words differ, from {wrong[:4]} on" if len(wrong) else ""


def difference_at(seed: int, cpu: str, count: int, folder: Path) -> Iterator[str]:
    """How the engines differ at the launches of a seed's program."""
    rng = random.Random(seed)
    program = generate(rng)
    way = rng.choice([*WAYS, ()])
    ptx = compiled(program.source, way, folder)
    for launch in launches(rng, program, count):
        one, other = (outcome(engine, cpu, ptx, program, launch) for engine in ("interpreter", "jit"))
        found = difference(one, other, launch)
        if found:
            yield f"seed {seed}, {' '.join(way)}, {launch}: {found}"


if __name__ == "__main__":
    sys.exit(run_seeds(__doc__, lambda rng: generate(rng).source, difference_at, 6))
