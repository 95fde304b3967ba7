"""Calls of the system as users of `simt.Device` meet them, on both engines."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.cli.main import execute
from simt.collector import collector_paused
from simt.machine.syscalls import BUFFER, SYSTEM

HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n"


def data(name: str, text: str) -> str:
    """A string as a module variable."""
    codes = ", ".join(str(b) for b in (*text.encode(), 0))
    return f".global .b8 {name}[{len(text.encode()) + 1}] = {{{codes}}};\n"


VPRINTF = ".extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);\n"
CALL = """
    {
        .param .b64 format;
        .param .b64 arguments;
        .param .b32 count;
        cvta.local.u64 %a1, %a1;
        cvta.global.u64 %a0, %a0;
        st.param.b64 [format], %a0;
        st.param.b64 [arguments], %a1;
        call (count), vprintf, (format, arguments);
        ld.param.b32 %n, [count];
    }
"""
REGISTERS = """
    .local .align 8 .b8 packed[16];
    .reg .pred %p;
    .reg .b32 %n, %t, %c;
    .reg .b64 %a<3>;
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
"""
PRINT = f"""
    mov.u64 %a1, packed;
    st.local.u32 [%a1], %c;
    st.local.u32 [%a1+4], %t;
    mov.u64 %a0, text;
    {CALL}
"""
WIDE = "%3d thread %245d|"
MODULE = f"""{HEADER}{VPRINTF}{data("text", "CTA %d thread %d|")}{data("wide", WIDE)}
.visible .entry once() {{ {REGISTERS} {PRINT} ret; }}
.visible .entry endless() {{ {REGISTERS} AGAIN: {PRINT} bra AGAIN; }}
.visible .entry stop() {{ {REGISTERS} {PRINT} setp.eq.u32 %p, %t, 2; @%p trap; ret; }}
.visible .entry asked(.param .u32 prints) {{
    {REGISTERS}
    ld.param.u32 %n, [prints];
    setp.eq.u32 %p, %n, 0;
    @%p ret;
    {PRINT}
    ret;
}}
.visible .entry often() {{
    {REGISTERS}
    .reg .b32 %i;
    mov.u32 %i, 0;
AGAIN:
    {PRINT.replace("text", "wide")}
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 40;
    @%p bra AGAIN;
    ret;
}}
"""

MALLOC = ".extern .func (.param .b64 block) malloc (.param .b64 bytes);\n"
TAKE = f"""{HEADER}{MALLOC}
.visible .entry take(.param .u64 out, .param .u64 size)
{{
    .reg .b32 %t;
    .reg .b64 %a, %o;
    ld.param.u64 %a, [size];
    {{
        .param .b64 bytes;
        .param .b64 block;
        st.param.b64 [bytes], %a;
        call (block), malloc, (bytes);
        ld.param.b64 %a, [block];
    }}
    mov.u32 %t, %tid.x;
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %t, 8, %o;
    st.global.u64 [%o], %a;
    ret;
}}
"""


def device(engine: str, **options: object) -> simt.Device:
    return simt.Device(
        "sm_90", **{"engine": engine, "memory": "64MiB", "timeout": 20, "workers": 1, **options}
    )


def line(cta: int, thread: int) -> str:
    return f"CTA {cta} thread {thread}|"


# ---------------------------------------------------------------- printing


def test_standard_output_by_default(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    device(engine).load(MODULE)["once"]((2,), (3,))
    assert capsys.readouterr().out == "".join(line(c, t) for c in range(2) for t in range(3))


@pytest.mark.parametrize("workers", [1, 3])
def test_ctas_print_in_order(engine: str, workers: int) -> None:
    dev, printed = device(engine, workers=workers), list[str]()
    dev.printf = printed.append
    dev.load(MODULE)["once"]((5, 2, 2), (40,))
    found = [int(text.split()[1]) for text in printed]
    assert found == [c for _ in range(4) for c in range(5) for _ in range(40)]
    assert sorted(printed) == sorted(line(c, t) for c in range(5) for t in range(40) for _ in range(4))


def test_compiled_code_prints_without_the_interpreter() -> None:
    dev = device("jit")
    dev.printf = lambda text: None
    dev.load(MODULE)["once"]((1,), (1,))
    assert getattr(dev.engine, "reasons") == {}  # noqa: B009


def test_what_was_printed_before_a_fault_is_shown(engine: str) -> None:
    dev, printed = device(engine), list[str]()
    dev.printf = printed.append
    with pytest.raises(simt.TrapError, match=r"CTA \(0, 0, 0\), thread \(2, 0, 0\)"):
        dev.load(MODULE)["stop"]((1,), (4,))
    assert printed == [line(0, t) for t in range(4)]


def test_endless_printing_is_stopped(engine: str) -> None:
    dev, printed = device(engine, timeout=0.5), list[str]()
    dev.printf = printed.append
    with pytest.raises(simt.LaunchTimeout):
        dev.load(MODULE)["endless"]((1,), (32,))
    assert set(printed) == {line(0, t) for t in range(32)}
    dev.timeout = 60  # on a busy machine a thread may be woken late
    dev.load(MODULE)["once"]((1,), (1,))
    assert printed[-1] == line(0, 0)


def test_long_output_comes_before_the_end(engine: str) -> None:
    """More than the buffer holds is printed in between; none is lost."""
    dev, printed = device(engine, workers=2), list[str]()
    dev.printf = printed.append
    dev.load(MODULE)["often"]((3,), (64,))
    expected = {f"{c:3} thread {t:245}|": 40 for c in range(3) for t in range(64)}
    assert Counter(printed) == expected
    assert BUFFER < 256 * 40 * 3 * 64


@pytest.mark.parametrize("workers", [1, 2])
def test_launches_may_print_or_not(engine: str, workers: int) -> None:
    """Whichever did before: where a kernel runs depends on that."""
    dev, printed = device(engine, workers=workers), list[str]()
    dev.printf = printed.append
    asked = dev.load(MODULE)["asked"]
    for prints in (0, 0, 1, 1, 0, 0, 1, 0):
        printed.clear()
        asked((3,), (2,), (prints,))
        assert printed == [line(c, t) for c in range(3) for t in range(2)] * prints


def test_printing_where_no_thread_can_be_made(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread of the caller makes the calls itself."""
    dev, printed = device(engine), list[str]()
    dev.printf = printed.append

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    asked = dev.load(MODULE)["asked"]
    asked((1,), (1,), (0,))  # compiled now
    pool = getattr(dev.engine, "host").pool if engine == "jit" else None  # noqa: B009
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", start)
        if pool is not None:
            pool.forget()  # the threads that it has
        asked((2,), (3,), (1,))
    assert printed == [line(c, t) for c in range(2) for t in range(3)]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
def test_signals_while_a_kernel_prints(engine: str) -> None:
    """Handlers run on the thread of the caller: one launches a kernel that prints too, the next one ends the
    launch."""
    dev, printed = device(engine, timeout=60), list[str]()
    dev.printf = printed.append
    module = dev.load(MODULE)
    asked, endless = module["asked"], module["endless"]
    asked((1,), (1,), (0,))  # compiled now
    seen: list[int] = []

    def handler(number: int, frame: object) -> None:
        seen.append(number)
        if len(seen) == 2:
            raise InterruptedError
        asked((1,), (1,), (1,))
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    old = signal.signal(signal.SIGALRM, handler)
    try:
        # hypothesis has a function that the collector calls, in which Python drops what a handler raises.
        with collector_paused():
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(InterruptedError):
                endless((1,), (32,))
    finally:
        signal.signal(signal.SIGALRM, old)
    assert set(printed) == {line(0, t) for t in range(32)}
    asked((1,), (1,), (1,))
    assert printed[-1] == line(0, 0)


def test_errors_of_the_users_own_function_come_out(engine: str) -> None:
    dev = device(engine)

    def refuse(text: str) -> None:
        raise ValueError(text)

    dev.printf = refuse
    with pytest.raises(ValueError, match="CTA 0 thread 0"):
        dev.load(MODULE)["once"]((1,), (2,))
    with pytest.raises(ValueError, match="thread"):  # here in the middle of the kernel
        dev.load(MODULE)["often"]((4,), (64,))
    printed: list[str] = []
    dev.printf = printed.append
    dev.load(MODULE)["once"]((1,), (1,))
    assert printed == [line(0, 0)]


def test_what_the_terminal_cannot_show_is_escaped(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", out)
    text = f"{HEADER}{VPRINTF}{data('text', 'größer')}.visible .entry k() {{ {REGISTERS} {PRINT} ret; }}"
    device(engine).load(text)["k"]((1,), (1,))
    out.flush()
    assert out.buffer.getvalue() == b"gr\\xf6\\xdfer"  # type: ignore[attr-defined]


def test_run_prints_to_standard_output(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "print.ptx"
    path.write_text(MODULE)
    words = ("run", str(path), "once", "--grid", "1", "--block", "2", "--memory", "64MiB", "--engine", engine)
    assert execute(words) == 0
    shown = capsys.readouterr()
    assert shown.out == line(0, 0) + line(0, 1)
    assert "once: grid 1" in shown.err


def test_old_modules_pass_arguments_in_registers(engine: str) -> None:
    """PTX 1.4 with 32-bit addresses."""
    dev, printed = simt.Device("sm_10", engine=engine, memory="64MiB"), list[str]()
    dev.printf = printed.append
    text = f""".version 1.4
.target sm_10
.extern .func (.reg .s32 count) vprintf (.reg .u32 format, .reg .u32 arguments);
{data("text", "%s %d %p %ld")}{data("word", "old")}
.global .align 8 .b32 packed[4];
.entry k (.param .u32 out)
{{
    .reg .u32 %f, %a, %o;
    .reg .s32 %n;
    mov.u32 %f, word;
    st.global.u32 [packed], %f;
    st.global.s32 [packed+4], -5;
    st.global.u32 [packed+8], 4096;
    st.global.s32 [packed+12], -6;
    mov.u32 %f, text;
    mov.u32 %a, packed;
    call (%n), vprintf, (%f, %a);
    ld.param.u32 %o, [out];
    st.global.s32 [%o], %n;
    exit;
}}
"""
    out = dev.zeros(1, "i4")
    dev.load(text)["k"]((1,), (1,), (out,))
    assert printed == ["old -5 0x1000 -6"]
    assert out.numpy()[0] == 4


# ---------------------------------------------------------------- the heap


def test_heap_of_another_size(engine: str) -> None:
    dev = device(engine)
    assert dev.heap_bytes == 8 << 20
    dev.heap_bytes = 1 << 16
    out = dev.zeros(40, "u8")
    dev.load(TAKE)["take"]((1,), (40,), (out, 4096))
    assert np.count_nonzero(out.numpy()) == 16
    assert len(set(out.numpy().tolist())) == 17
    with pytest.raises(
        simt.SimtError, match="the device's heap is in use and cannot change its size any more"
    ):
        dev.heap_bytes = 1 << 20


def test_no_room_for_the_heap(engine: str) -> None:
    dev = device(engine, memory="16MiB")
    dev.heap_bytes = 32 << 20
    with pytest.raises(
        simt.OutOfMemory, match=r"no room for the kernels' heap \(Device.heap_bytes\): cannot"
    ):
        dev.load(TAKE)["take"]((1,), (1,), (dev.zeros(1, "u8"), 4))


def test_only_kernels_that_allocate_need_a_heap(engine: str) -> None:
    dev = device(engine, memory="16MiB")
    dev.heap_bytes = 32 << 20
    dev.printf = lambda text: None
    dev.load(MODULE)["once"]((1,), (1,))


# ---------------------------------------------------------------- functions that nobody has

UNKNOWN = f"""{HEADER}
.extern .func launch_rocket (.param .b32 when);
.func helper ()
{{
    {{
        .param .b32 when;
        st.param.b32 [when], 5;
        call launch_rocket, (when);
    }}
    ret;
}}
.visible .entry bad() {{ call helper; ret; }}
.visible .entry good(.param .u64 out)
{{
    .reg .b64 %o;
    ld.param.u64 %o, [out];
    st.global.u32 [%o], 7;
    ret;
}}
"""


def test_unknown_functions_are_refused_where_they_can_be_called(engine: str) -> None:
    dev = device(engine)
    module, out = dev.load(UNKNOWN), dev.zeros(1, "u4")
    module["good"]((1,), (1,), (out,))
    assert out.numpy()[0] == 7
    with pytest.raises(simt.LaunchError) as error:
        module["bad"]((1,), (1,))
    assert str(error.value) == (
        "kernel bad: <ptx> line 11 calls `launch_rocket`, which the module declares but does not define, and "
        "which is no function of the system (those are __assertfail, __cuda_syscall_aligned_malloc, free, "
        "malloc, vprintf); load the module together with a file that defines it: load([...])"
    )


def test_system_functions_with_other_parameters_are_refused(engine: str) -> None:
    text = TAKE.replace(MALLOC, MALLOC.replace(".param .b64 bytes", ".param .b32 bytes"))
    text = text.replace("        .param .b64 bytes;\n", "        .param .b32 bytes;\n")
    text = text.replace("st.param.b64 [bytes], %a", "st.param.b32 [bytes], 4")
    module = device(engine).load(text)
    with pytest.raises(simt.LaunchError) as error:
        module["take"]((1,), (1,), (0, 0))
    assert str(error.value).endswith(
        "calls `malloc` as (.b64) f (.b32), but the system's function is (.b64) f (.b64)"
    )


def test_functions_without_a_body_must_be_extern(engine: str) -> None:
    with pytest.raises(simt.PtxError, match="function `launch_rocket` is declared but not defined"):
        device(engine).load(UNKNOWN.replace(".extern ", ""))


def test_functions_without_a_body_have_no_address(engine: str) -> None:
    text = f"{HEADER}{MALLOC}.visible .entry k() {{ .reg .b64 %a; mov.u64 %a, malloc; ret; }}"
    with pytest.raises(
        simt.PtxError, match=r"`malloc` has no body, and so no address(.|\n)*load the module together"
    ):
        device(engine).load(text)


def test_a_module_may_have_its_own(engine: str) -> None:
    own = ".func (.param .b64 block) malloc (.param .b64 bytes)\n{ st.param.b64 [block], 77; ret; }\n"
    dev = device(engine)
    out = dev.zeros(3, "u8")
    dev.load(TAKE.replace(MALLOC, own))["take"]((1,), (3,), (out, 8))
    assert out.numpy().tolist() == [77] * 3


# ---------------------------------------------------------------- wild arguments


def caller(name: str) -> str:
    """A module whose kernel `k` hands its parameters on to a function of the system."""
    results, takes = SYSTEM[name].signature(64)
    formal = ", ".join(f".param .b{bits} p{i}" for i, bits in enumerate(takes))
    result = f"(.param .b{results[0]} r) " if results else ""
    lines = [f".param .b{bits} a{i}; ld.param.b{bits} %r{i}, [p{i}]; st.param.b{bits} [a{i}], %r{i};"
             for i, bits in enumerate(takes)]  # fmt: skip
    registers = "".join(f".reg .b{bits} %r{i}; " for i, bits in enumerate(takes))
    local = f".param .b{results[0]} r; " if results else ""
    call = f"call {'(r), ' if results else ''}{name}, ({', '.join(f'a{i}' for i in range(len(takes)))});"
    body = "\n".join([registers, local, *lines, call, "ret;"])
    return f"{HEADER}.extern .func {result}{name} ({formal});\n.visible .entry k({formal})\n{{\n{body}\n}}\n"


@pytest.mark.parametrize("name", sorted(SYSTEM))
def test_no_argument_harms_the_process(engine: str, name: str) -> None:
    dev, rng = device(engine), np.random.default_rng(3)
    dev.printf = lambda text: None
    kept = dev.array(np.arange(1000, dtype="u4"))
    percent = dev.array(np.frombuffer(b"%s %d %*s %f %n %p %c %lld".ljust(64, b"%"), "u1"))
    kernel = dev.load(caller(name))["k"]
    memory = dev.memory
    ends = (memory.base, memory.limit, memory.base + memory.size)
    odd = [0, 1, 4096, percent.ptr, percent.ptr + 60, 2**47, 2**63, 2**64 - 1, *ends, *(e - 1 for e in ends)]
    faults: list[simt.KernelFault] = []
    for _ in range(60):
        words = [
            int(rng.choice(odd)) if rng.random() < 0.8 else int(rng.integers(2**63)) for _ in kernel.params
        ]
        try:
            kernel((1,), (3,), tuple(w % 2 ** (8 * p.size) for w, p in zip(words, kernel.params)))
        except simt.KernelFault as fault:
            faults.append(fault)
    assert all(f.site.kernel == "k" and f.site.thread is not None for f in faults)
    np.testing.assert_array_equal(kept.numpy(), np.arange(1000))
