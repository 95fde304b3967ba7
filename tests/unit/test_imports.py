"""A handler of signals may launch while the main thread imports what launches need."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import simt
from simt.imports import Later, import_whole

LAUNCHES = """
import importlib.abc, os, signal, sys, time
import simt

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGALRM)
            time.sleep(0.05)  # a handler on the main thread begins now

seen = []

def handler(number, frame):
    seen.append(sys.argv[1] in sys.modules)
    other(1, 1, (flag,))

device = simt.Device(workers=1)
one, other = (device.load(sys.argv[2].replace("77", number))["k"] for number in ("1", "2"))
flag, result = device.zeros(1, "u4"), device.zeros(1, "u4")
signal.signal(signal.SIGALRM, handler)
sys.meta_path.insert(0, Finder())
one(1, 1, (result,))
assert seen, "nothing was interrupted"
assert (result.numpy()[0], flag.numpy()[0]) == (1, 2)
"""

PTX = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    cvta.to.global.u64 %out, %out;
    st.global.u32 [%out], 77;
    ret;
}
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no alarms")
@pytest.mark.parametrize("module", ["simt.engine.prepared", "simt.engine.llvm_ops"])
def test_a_handler_launches_while_the_first_launch_imports(module: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHES, module, PTX],
        env={**os.environ, "SIMT_CACHE_DIR": str(tmp_path), "SIMT_ENGINE": "jit"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_module_that_waits_until_it_is_asked() -> None:
    program = """
import sys
from simt.imports import Later
found = Later("simt.analysis.nesting")
print("simt.analysis.nesting" in sys.modules)
from_there = found.nesting
import simt.analysis.nesting
print(from_there is simt.analysis.nesting.nesting)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\nTrue\n", "")
    with pytest.raises(ImportError):
        _ = Later("simt.nothing").name
    with pytest.raises(AttributeError):
        _ = Later("simt.records").nothing


def test_what_is_not_there_is_told_by_the_import_itself() -> None:
    import_whole("simt.nothing", "simt.records")
    assert "simt.nothing" not in sys.modules


IMPORTS = """
import sys
import simt

device = simt.Device(workers=1, engine="jit")
result = device.zeros(1, "u4")
device.load(sys.argv[1])["k"](1, 1, (result,))
assert result.numpy()[0] == 77
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""
REWRITES = ("analysis.rolled_again", "analysis.terms", "analysis.unrolling", "engine.llvm_rewriting")
SELDOM = ("engine.llvm_idle", "isa.approximate", "isa.special")


@pytest.mark.parametrize("drafts", [True, False], ids=["draft", "well"])
def test_what_a_kernel_does_not_need_is_not_imported(drafts: bool, tmp_path: Path) -> None:
    """Rewriting is for code that is emitted as well as can be."""
    names = [f"simt.{name}" for name in (*REWRITES, *SELDOM)]
    text = PTX.replace("st.global", "add.u64 %out, %out, 4; sub.u64 %out, %out, 4;\n" * 40 + "st.global")
    settings = {"SIMT_CACHE_DIR": str(tmp_path)} | ({} if drafts else {"SIMT_DRAFTS": "0"})
    rewriting = [] if drafts else [f"simt.{name}" for name in (*REWRITES, "engine.llvm_idle")]
    for expected in rewriting, []:  # the second one finds its code in the cache
        done = subprocess.run(
            [sys.executable, "-c", IMPORTS, text, *names],
            env={**{n: v for n, v in os.environ.items() if n != "SIMT_DRAFTS"}, **settings},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stderr == ""
        assert done.stdout.split() == expected


@pytest.mark.parametrize(
    "name", ["Breakpoint", "Device", "DeviceArray", "Kernel", "Module", "StackEntry", "Stream"]
)
def test_what_the_package_imports_later_is_asked_for_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparing the collector each time took 30 ms where 300,000 objects are frozen, which Python counts."""
    found, asked = getattr(simt, name), list[str]()
    monkeypatch.setattr(simt, "__getattr__", asked.append)
    assert getattr(simt, name) is found
    assert asked == []
