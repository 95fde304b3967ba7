"""The contract with users, sentence by sentence: docs of `Device`, `Kernel`, `DeviceArray` and the README."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import simt
from tests.conftest import ENGINES

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
BODY = """\
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .pred %p;
    .shared .align 8 .b8 sh[64];
    .local .align 8 .b8 lo[64];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r4, %r2, 64, %r1;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, 16;
"""


def kernel(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{BODY}{body}\n    ret;\n}}\n"


def device_on(engine: str, **options: Any) -> simt.Device:
    return simt.Device(options.pop("arch", "sm_90"), engine=engine, **{"memory": "16MiB", **options})


FAULTS = {
    "null load": "ld.global.u32 %r5, [%rd2];\nst.global.u32 [%rd1], %r5;",
    "generic": "st.u32 [%rd2], %r1;",
    "constant": "ld.const.u32 %r5, [%rd2];\nst.global.u32 [%rd1], %r5;",
    "misaligned": "add.u64 %rd2, %rd1, 2;\nst.global.u32 [%rd2], %r1;",
    "vector": "add.u64 %rd2, %rd1, 8;\nst.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1};",
    "one lane": "setp.eq.u32 %p, %r4, 101;\n@%p st.global.u32 [%rd2], %r1;",
    "shared": "mov.u32 %r5, 65536;\nst.shared.u32 [%r5], %r1;",
    "local": "mov.u32 %r5, 0x40000;\nst.local.u32 [%r5], %r1;",
    "atomic": "atom.global.add.u32 %r5, [%rd2], 1;",
    "trap": "setp.eq.u32 %p, %r4, 40;\n@%p trap;",
    "barrier": "bar.sync 0, 96;",
}


def fault(engine: str, body: str) -> simt.KernelFault:
    """The fault of a kernel whose third line after `BODY`'s is not reached; what was there before stays."""
    device = device_on(engine, workers=1, timeout=5)
    other, x = device.array(np.arange(1000)), device.zeros(1024, "u4")
    with pytest.raises(simt.KernelFault) as found:
        device.load(kernel(body))["k"](2, 64, (x,))
    np.testing.assert_array_equal(other.numpy(), np.arange(1000))
    device.load(kernel("st.global.u32 [%rd1], 123;"))["k"](1, 1, (x,))
    assert x.numpy()[0] == 123
    return found.value


@pytest.mark.parametrize("name", FAULTS)
def test_faults_read_the_same_on_both_engines(name: str) -> None:
    texts: list[str] = []
    for engine in ENGINES:
        found = fault(engine, FAULTS[name])
        site = found.site
        assert site.kernel == "k"
        assert site.cta is not None
        assert site.thread is not None
        first = kernel("").splitlines().index("    ret;")
        assert site.line in (first, first + 1)
        texts.append(re.sub("0x7[0-9a-f]{11}", "ADDRESS", str(found)))
    assert texts[0] == texts[1]


LOOPS = {
    "empty": "L:\nbra L;",
    "barrier": "L:\nbar.sync 0;\nbra L;",
    "two barriers": "L:\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nbar.sync 1;\nbra L;",
    "spinning": "L:\nld.volatile.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p, %r5, 77;\n@%p bra L;",
}


@pytest.mark.parametrize("name", LOOPS)
def test_endless_loops_are_stopped_and_named(engine: str, name: str) -> None:
    device = device_on(engine, timeout=0.2)
    x = device.zeros(1, "u4")
    started = time.monotonic()
    with pytest.raises(simt.LaunchTimeout) as found:
        device.load(kernel(LOOPS[name]))["k"](2, 64, (x,))
    assert time.monotonic() - started < 10
    site = found.value.site
    assert site.cta in ((0, 0, 0), (1, 0, 0))
    assert site.thread is not None
    assert site.line is not None
    device.load(kernel("st.global.u32 [%rd1], 5;"))["k"](1, 1, (x,))
    assert x.numpy()[0] == 5


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_a_loop_of_barriers(engine: str) -> None:
    device = device_on(engine)
    k = device.load(kernel(LOOPS["barrier"]))["k"]
    x = device.zeros(1, "u4")
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        k(1, 64, (x,))


@pytest.mark.parametrize("arch", [10, 11, 12, 13, 20, 21, 30, 35, 75, 80, 86, 89, 90, 100])
def test_devices_and_their_limits(arch: int) -> None:
    device = device_on("interpreter", arch=f"sm_{arch}")
    old = ".version 1.0\n.target sm_10\n.entry k { .param .u32 n; exit; }\n"
    k = device.load(old)["k"]
    most = 512 if arch < 20 else 1024
    k(1, most, (1,))
    with pytest.raises(simt.LaunchError, match=f"at most {most} on sm_{arch}$"):
        k(1, most + 1, (1,))
    with pytest.raises(simt.LaunchError, match=f"extent y may be at most 65535 on sm_{arch}"):
        k((1, 65536), 1, (1,))
    with pytest.raises(simt.LaunchError, match=f"sm_{arch} has at most"):
        k(1, 1, (1,), shared_mem=1 << 20)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"memory": 0}, "bad memory size 0"),
        ({"memory": None}, "bad memory size None"),
        ({"memory": 1.5}, "bad memory size 1.5"),
        ({"memory": "1e3"}, "bad memory size '1e3'"),
        ({"workers": 0}, "workers: expected a positive number, 0 given"),
        ({"workers": 2.5}, "workers: expected a positive number, 2.5 given"),
        ({"workers": 1025}, "workers: expected at most 1024 native threads, 1025 given"),
        ({"workers": [1]}, r"workers: expected a positive number, \[1\] given"),
        ({"timeout": "1"}, "timeout: expected a positive number of seconds, '1' given"),
        ({"timeout": float("nan")}, "timeout: expected a positive number of seconds, nan given"),
        ({"engine": "foo"}, "no engine 'foo': expected one of jit, interpreter"),
        ({"approx": "exact"}, "no approximation 'exact': expected one of hardware, fast"),
        ({"arch": "sm_62"}, "no virtual device 'sm_62': expected one of sm_10, "),
    ],
)
def test_bad_devices(options: dict[str, Any], text: str) -> None:
    with pytest.raises(simt.SimtError, match=text):
        simt.Device(**options)


def test_more_memory_than_addresses() -> None:
    assert simt.Device("sm_90", memory=1 << 70).memory.size < 1 << 48


def test_sizes_may_be_numpy_integers(engine: str) -> None:
    device = device_on(engine, memory=np.int64(1 << 24), workers=np.int32(1))
    x = device.zeros(np.array([2, 3]), "u4")
    assert x.shape == (2, 3)
    k = device.load(kernel("st.global.u32 [%rd1], 5;"))["k"]
    k(np.int32(1), (np.uint8(1),), (x,), shared_mem=np.int64(64))
    assert x.numpy()[0, 0] == 5


def test_bad_launches_leave_the_device_usable(engine: str) -> None:
    device = device_on(engine)
    x = device.zeros(1, "u4")
    k = device.load(kernel("st.global.u32 [%rd1], 5;"))["k"]
    for shared in ("x", 1.5, None, -1):
        with pytest.raises(simt.LaunchError, match="shared_mem: expected bytes of dynamic shared memory"):
            k(1, 1, (x,), shared_mem=shared)  # pyright: ignore[reportArgumentType]
    with pytest.raises(simt.LaunchError, match="stream: expected a Stream or None, 5 given"):
        k(1, 1, (x,), stream=5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(simt.LaunchError, match="the stream belongs to another device"):
        k(1, 1, (x,), stream=device_on(engine).stream())
    with pytest.raises(simt.SimtError, match="timeout: expected"):
        k.launch(1, 1, (x,), timeout=-1)
    k(1, 1, (x,), stream=device.stream())
    device.synchronize()
    assert x.numpy()[0] == 5


def test_functions_of_the_user_can_be_called(engine: str) -> None:
    device = device_on(engine)
    before: Any = device.printf
    with pytest.raises(simt.SimtError, match=r"^printf: expected a function of a text, None given$"):
        device.printf = None  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(simt.SimtError, match=r"^on_breakpoint: expected .* breakpoint or None, 'x' given$"):
        device.on_breakpoint = "x"  # pyright: ignore[reportAttributeAccessIssue]
    assert (device.printf, device.on_breakpoint) == (before, None)
    device.on_breakpoint = before
    device.on_breakpoint = None


def test_settings_are_checked_when_they_are_made(engine: str) -> None:
    device = device_on(engine)
    with pytest.raises(simt.SimtError, match="workers: expected a positive number, 0 given"):
        device.workers = 0
    with pytest.raises(simt.SimtError, match="timeout: expected a positive number of seconds, -1 given"):
        device.timeout = -1
    device.workers, device.timeout = 2, 5
    assert (device.workers, device.timeout) == (2, 5.0)
    device.timeout = None
    assert device.timeout is None


@pytest.mark.parametrize("size", ["x", -1, 1.5, None])
def test_bad_sizes_of_stacks(engine: str, size: Any) -> None:
    device = device_on(engine)
    x = device.zeros(1, "u4")
    device.stack_bytes = size
    k = device.load(kernel("st.global.u32 [%rd1], 5;"))["k"]
    with pytest.raises(simt.LaunchError, match=r"Device\.stack_bytes: bad memory size"):
        k(1, 1, (x,))
    device.stack_bytes = "4KiB"
    k(1, 1, (x,))
    assert x.numpy()[0] == 5


@pytest.mark.parametrize("shape", ["a", 1.5, None, (2, "b"), {3: 4}.values])
def test_bad_shapes_of_arrays(shape: Any) -> None:
    with pytest.raises(TypeError, match="expected an integer or a tuple of integers"):
        device_on("interpreter").zeros(shape)


def test_names_are_strings() -> None:
    module = device_on("interpreter").load(kernel(""))
    with pytest.raises(TypeError, match="a kernel's name is a string, 5 given"):
        module[5]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="a variable's name is a string, None given"):
        module.symbol(None)  # pyright: ignore[reportArgumentType]


def test_errors_pass_between_processes() -> None:
    found = fault("interpreter", FAULTS["null load"])
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is simt.MemoryFault
    assert (str(again), again.site, again.address) == (str(found), found.site, 16)
    with pytest.raises(simt.PtxError) as refused:
        device_on("interpreter").load(".version 1.4\n.target sm_10\nfoo")
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


CHILD = """
import os, sys, numpy as np, simt
def go(device):
    x = device.zeros(1, "u4")
    device.load(sys.argv[1])["k"](4, 64, (x,))
    assert x.numpy()[0] == 5
device = simt.Device("sm_90", engine=sys.argv[2], memory="16MiB", workers=2)
go(device)
child = os.fork()
go(device)
go(simt.Device("sm_90", engine=sys.argv[2], memory="16MiB", workers=2))
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_device_works_on_after_fork(engine: str) -> None:
    quiet = ["-W", "ignore::DeprecationWarning"]  # from 3.12 on Python warns of threads when it forks
    command = [sys.executable, *quiet, "-c", CHILD, kernel("st.global.u32 [%rd1], 5;"), engine]
    found = subprocess.run(command, timeout=60, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert (found.returncode, found.stderr) == (0, "")


def test_device_arrays_do_not_pickle() -> None:
    with pytest.raises(TypeError, match=r"belongs to its device and process; copy or pickle its numpy\(\)$"):
        pickle.dumps(device_on("interpreter").zeros(3))
