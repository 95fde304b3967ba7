"""Approximate functions, of both kinds, give the same bits on every CPU and in the interpreter's algebra."""

from __future__ import annotations

import functools

import numpy as np

import simt
from simt.ptx.environment import Approximation, Environment
from simt.ptx.types import F32, F64, Type
from tests.cpus.conftest import share_on
from tests.hw.arithmetic import register_type
from tests.unit.isa.meaning import Array, run

COUNT = 1 << 14
SINGLE = ("rcp", "rsqrt", "sqrt", "sin", "cos", "lg2", "ex2", "lg2.approx.ftz", "tanh", "sin.approx.ftz")
DOUBLE = ("rsqrt.approx.f64", "rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64")
OPCODES = {
    **{f"{name}.f32" if "." in name else f"{name}.approx.f32": F32 for name in SINGLE},
    **dict.fromkeys(DOUBLE, F64),
}


@functools.cache
def operands(t: Type) -> Array:
    """Random bits, and numbers of ordinary size."""
    random = np.random.default_rng(t.bits)
    bits = random.integers(1 << t.bits, size=COUNT // 2, dtype=np.uint64).astype(f"u{t.bytes}")
    return np.concatenate(
        [bits.view(f"f{t.bytes}"), random.uniform(-140, 140, COUNT // 2).astype(f"f{t.bytes}")]
    )


@functools.cache
def wanted(opcode: str, approx: Approximation) -> Array:
    return run(opcode, operands(OPCODES[opcode]), env=Environment(approx=approx))


def entry(number: int, opcode: str, t: Type) -> str:
    return f"""
.visible .entry k{number}(.param .u64 from, .param .u64 to)
{{
    .reg .u32 %t, %c, %n; .reg .u64 %in, %out, %offset; .reg .{register_type(t)} %x;
    ld.param.u64 %in, [from]; ld.param.u64 %out, [to];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %offset, %t, {t.bytes};
    add.u64 %in, %in, %offset; add.u64 %out, %out, %offset;
    ld.global.{register_type(t)} %x, [%in]; {opcode} %x, %x; st.global.{register_type(t)} [%out], %x;
    ret;
}}"""


def test_every_cpu_has_the_interpreters_bits(device: simt.Device, cpu: str) -> None:
    assert differing(device, "fast", cpu) == []


def test_every_cpu_has_the_hardwares_bits(exact_device: simt.Device, cpu: str) -> None:
    assert differing(exact_device, "hardware", cpu) == []


def differing(device: simt.Device, approx: Approximation, cpu: str) -> list[str]:
    """The opcodes whose kernels and meanings differ."""
    opcodes = share_on(cpu, OPCODES, OPCODES.__getitem__)
    kernels = [entry(i, opcode, OPCODES[opcode]) for i, opcode in enumerate(opcodes)]
    module = device.load(".version 8.0\n.target sm_90\n.address_size 64\n" + "\n".join(kernels))
    wrong: list[str] = []
    for i, opcode in enumerate(opcodes):
        t = OPCODES[opcode]
        source = device.array(operands(t))
        out = device.zeros(COUNT, source.dtype)
        module[f"k{i}"]((COUNT // 128,), (128,), (source, out))
        found, expected = out.numpy(), wanted(opcode, approx)
        same = found.view(f"u{t.bytes}") == expected.view(f"u{t.bytes}")
        if not np.all(same | np.isnan(found) & np.isnan(expected)):
            wrong.append(opcode)
    return wrong
