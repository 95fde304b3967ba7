"""A child of a process that was in LLVM when it forked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading
import llvmlite.binding as llvm
import simt
from simt.engine import compile

IR = "\\n".join(f"define i32 @f{i}(i32 %x) {{ ret i32 %x }}" for i in range(2000))
done = threading.Event()

def works():
    while not done.is_set():
        llvm.parse_assembly(IR)

threads = [threading.Thread(target=works) for _ in range(2)]
for thread in threads:
    thread.start()
children = []
for _ in range(4):
    children.append(os.fork())
    if children[-1] == 0:
        signal.alarm(5)
        llvm.parse_assembly("define void @f() { ret void }")
        os._exit(0)
statuses = [os.waitpid(child, 0)[1] for child in children]
done.set()
print(statuses)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_it_calls_llvm_as_well() -> None:
    quiet = ["-W", "ignore::DeprecationWarning"]  # from 3.12 on Python warns of threads when it forks
    done = subprocess.run([sys.executable, *quiet, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[0, 0, 0, 0]\n", done.stderr
