"""No kernel can crash the process, change what is not its own, or keep the device from going on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import simt
from tests.property.wild import (
    ARRAY,
    BLOCK,
    CTA,
    HEADER,
    THREAD,
    Access,
    module_text,
    must_fault,
    random_access,
    wild_module,
)

ROOT = Path(__file__).parents[2]
COUNT = 2 * BLOCK

FINE = (
    HEADER
    + """.visible .entry fine(.param .u64 out) {
    .reg .u32 %r<3>; .reg .u64 %a, %o;
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0;
    ld.param.u64 %o, [out]; mul.wide.u32 %a, %r0, 4; add.u64 %o, %o, %a; st.global.u32 [%o], %r0;
    ret; }
"""
)


def entry(body: str, parameters: str = "", before: str = "") -> str:
    registers = ".reg .u32 %r<8>; .reg .u64 %d<8>; .reg .pred %p<4>; .reg .f32 %f<4>;"
    head = f"{HEADER}{before}.visible .entry wrong({parameters}) {{ {registers}"
    return f"{head}\nmov.u32 %r0, %tid.x;\n{body}\n}}\n"


def still_works(device: simt.Device) -> None:
    """Another kernel runs and is right."""
    out = device.zeros(64, "u4")
    device.load(FINE)["fine"](2, 32, (out,))
    assert out.numpy().tolist() == list(range(64))


def try_access(device: simt.Device, access: Access, array: simt.DeviceArray) -> None:
    """Makes one access of one thread; checks the fault, if there is one or has to be one."""
    memory = device.memory
    out = device.zeros(COUNT + 2, "u4")
    try:
        wild_module(device)[access.name](2, BLOCK, (access.address, out))
    except simt.MemoryFault as fault:
        check_fault(fault, access)
        legal = must_fault(access, memory.base, memory.limit) is False  # a launch may raise the limit
        assert not legal, f"{access} was refused"
    else:
        assert not must_fault(access, memory.base, memory.limit), f"{access} was allowed"
        assert out.numpy()[:BLOCK].tolist() == list(range(BLOCK))


def check_fault(fault: simt.MemoryFault, access: Access) -> None:
    """It names kernel, address, CTA, thread and line."""
    site = fault.site
    assert (site.kernel, fault.address) == (access.name, access.place)
    assert (site.cta, site.thread) == ((CTA, 0, 0), (THREAD, 0, 0))
    assert site.line is not None
    assert "%a]" in module_text().splitlines()[site.line - 1]


def many_accesses(device: simt.Device, seed: int, count: int) -> None:
    random = Random(seed)
    before, array, after = (device.array(np.full(ARRAY // 4, n, "u4")) for n in (1, 2, 3))
    for _ in range(count):
        access = random_access(random, device.memory.base, device.memory.limit, array.ptr)
        try_access(device, access, array)
    assert (before.numpy() == 1).all()
    assert (after.numpy() == 3).all()
    still_works(device)


def test_wild_addresses(device: simt.Device) -> None:
    many_accesses(device, 1, 150)


def test_a_process_survives_wild_addresses(engine: str) -> None:
    """A crash would be seen in the exit code, whatever it does to the process."""
    code = f"""
import simt
from tests.property.test_robustness import many_accesses
many_accesses(simt.Device("sm_90", engine="{engine}", memory="64MiB", timeout=20), 2, 400)
print("survived")
"""
    done = run_python(code)
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120
    )


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}


# ---------------------------------------------------------------- kernels that never end

ENDLESS = {
    "empty": "L: bra L;",
    "counting": "L: add.u32 %r1, %r1, %r0; st.shared.u32 [s], %r1; bra.uni L;",
    "one lane": "setp.ne.u32 %p0, %r0, 5; @%p0 ret; L: bra L;",
    "barrier": "L: bar.sync 0; bra L;",
    "two blocks": "setp.lt.u32 %p0, %r0, 7; @%p0 bra B; A: bra B; B: bra A;",
    "atomics": "L: atom.shared.add.u32 %r1, [s], 1; setp.ne.u32 %p0, %r1, 0; bra L;",
    "function": "call spin;",
    "waiting": "L: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L;",
}
SPIN = ".shared .u32 s;\n.func spin() { .reg .u32 %x; L: add.u32 %x, %x, 1; bra L; }\n"


@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS.keys())
def test_endless_kernels_are_stopped(device: simt.Device, body: str) -> None:
    module = device.load(entry(body + "\nret;", before=SPIN))
    start = time.monotonic()
    with pytest.raises(simt.LaunchTimeout, match="timeout") as found:
        module["wrong"].launch(3, 40, (), timeout=0.1)
    assert found.value.site.kernel == "wrong"
    assert time.monotonic() - start < 15
    still_works(device)


def test_endless_recursion(device: simt.Device) -> None:
    before = """.func (.param .u32 o) deep(.param .u32 i) { .reg .u32 %a; .local .b8 frame[64];
        ld.param.u32 %a, [i]; st.local.u32 [frame], %a; add.u32 %a, %a, 1;
        { .param .u32 x; .param .u32 y; st.param.u32 [x], %a; call (y), deep, (x); ld.param.u32 %a, [y]; }
        st.param.u32 [o], %a; ret; }
"""
    call = "{ .param .u32 x; .param .u32 y; st.param.u32 [x], %r0; call (y), deep, (x); } ret;"
    with pytest.raises(simt.SimtError, match=r"stack|timeout"):
        device.load(entry(call, before=before))["wrong"].launch(1, 33, (), timeout=10)
    still_works(device)


# ---------------------------------------------------------------- barriers, traps, wild targets


BARRIERS = {
    "different": "setp.lt.u32 %p0, %r0, 32; @%p0 bra A; bar.sync 1; bra B; A: bar.sync 2; B:",
    "too few": "setp.ge.u32 %p0, %r0, 32; @%p0 bra B; bar.sync 0, 64; B:",
    "never": "bar.sync 3, 96;",
}


@pytest.mark.parametrize("body", BARRIERS.values(), ids=BARRIERS.keys())
def test_barriers_that_cannot_complete(device: simt.Device, body: str) -> None:
    with pytest.raises(simt.BarrierError) as found:
        device.load(entry(body + "\nret;"))["wrong"](2, 64, ())
    assert found.value.site.kernel == "wrong"
    assert found.value.site.line is not None
    still_works(device)


WILD_TARGETS = {
    "trap": ("setp.eq.u32 %p0, %r0, 3; @%p0 trap;", simt.TrapError),
    "index": ("t: .branchtargets A, B; brx.idx %r0, t; A: B:", simt.SimtError),
    "function": ("p: .callprototype _ (); ld.param.u64 %d0, [x]; call %d0, p;", simt.SimtError),
}


@pytest.mark.parametrize("target", [0, 1 << 20, (1 << 64) - 1, 0xDEADBEEF])
@pytest.mark.parametrize("name", WILD_TARGETS)
def test_traps_and_wild_targets(device: simt.Device, name: str, target: int) -> None:
    body, error = WILD_TARGETS[name]
    taken = ".func known() { ret; }\n"
    kernel = device.load(entry(f"mov.u64 %d1, known;\n{body}\nret;", ".param .u64 x", taken))["wrong"]
    with pytest.raises(error) as found:
        kernel(1, 40, (target,))
    assert "wrong" in str(found.value)
    still_works(device)


# ---------------------------------------------------------------- launches that cannot be

SHAPES: list[Any] = [
    0,
    -1,
    (0, 1),
    (1, 1, 0),
    (1, -5),
    1 << 40,
    (1, 1 << 20),
    (1, 2, 3, 4),
    (),
    1.5,
    "1",
    None,
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_shapes_are_refused(device: simt.Device, shape: Any) -> None:
    kernel, out = device.load(FINE)["fine"], device.zeros(64, "u4")
    with pytest.raises(simt.LaunchError):
        kernel(1, shape, (out,))
    if shape not in (1 << 40, (1, 1 << 20)):
        with pytest.raises(simt.LaunchError):
            kernel(shape, 1, (out,))
    assert not out.numpy().any()
    still_works(device)


ARGUMENTS: list[Any] = [
    (), (1, 2), (None,), ("x",), (1 << 64,), (-(1 << 64),), (1.5,), (np.zeros(3),), ([],), (b"123",),
    (object(),), None, 7,
]  # fmt: skip


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda a: repr(a)[:20])
def test_arguments_are_refused(device: simt.Device, arguments: Any) -> None:
    with pytest.raises(simt.LaunchError):
        device.load(FINE)["fine"](1, 1, arguments)


@pytest.mark.parametrize("size", [-1, 1 << 20, 1 << 40, 1 << 70])
def test_shared_memory_sizes_are_refused(device: simt.Device, size: int) -> None:
    with pytest.raises(simt.LaunchError):
        device.load(FINE)["fine"](1, 1, (device.zeros(1, "u4"),), shared_mem=size)
    still_works(device)


@pytest.mark.parametrize("space", ["shared", "local"])
@pytest.mark.parametrize("size", [1 << 21, 1 << 31, 1 << 45])
def test_huge_variables_are_refused(device: simt.Device, space: str, size: int) -> None:
    with pytest.raises(simt.SimtError):
        device.load(entry(f".{space} .b8 x[{size}]; st.{space}.u8 [x], 1; ret;"))["wrong"](1, 1, ())
    still_works(device)


# ---------------------------------------------------------------- threads and signals


def test_faults_in_one_thread_leave_the_others_alone(device: simt.Device) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(6):
                if number == 0:
                    with pytest.raises(simt.MemoryFault):
                        wild_module(device)["store32_global"](
                            2, BLOCK, (turn * 4, device.zeros(COUNT + 2, "u4"))
                        )
                else:
                    still_works(device)
        except BaseException as error:  # a failure must reach the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


INTERRUPTED = """
import signal, simt
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit that it is ignored
from tests.property.test_robustness import entry, still_works
device = simt.Device("sm_90", engine="{engine}", memory="64MiB")
body = "ld.param.u32 %r1, [n]; setp.eq.u32 %p0, %r1, 0; @%p0 ret; L: bra L;"
kernel = device.load(entry(body, ".param .u32 n"))["wrong"]
kernel(2, 64, (0,))
print("ready", flush=True)
try:
    kernel(2, 64, (1,))
except KeyboardInterrupt:
    print("interrupted", flush=True)
still_works(device)
print("went on", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way there")
def test_interrupt(engine: str) -> None:
    code = INTERRUPTED.replace("{engine}", engine)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        try:
            rest, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert (child.returncode, rest) == (0, "interrupted\nwent on\n")
