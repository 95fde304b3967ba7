"""Records small programs on a real GPU: `python -m tests.hw.record_probes FILE.npz` (see `tests.hw.probes`).

Needs what `tests.hw.record_arithmetic` needs. Programs that end a context with an error run in processes of
their own; of them the error is kept.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw import atomic_probes, control_probes, memory_probes
from tests.hw.probes import STRIDE, Probe
from tests.hw.record_arithmetic import Gpu, check, open_gpu

SECONDS = 60
"""After so long a program in a process of its own counts as hanging."""


def run(probe: Probe, gpu: Gpu) -> Any:
    """The output of a program, in words of 64 bits."""
    module = check(cuda.cuModuleLoadData(probe.text.encode() + b"\0"))
    function = check(cuda.cuModuleGetFunction(module, b"k"))
    source = np.frombuffer(probe.given.ljust(8, b"\0"), np.uint8)
    out = np.zeros(probe.threads * STRIDE // 8, np.uint64)
    check(cuda.cuMemcpyHtoD(gpu.source, source.ctypes.data, source.nbytes))
    check(cuda.cuMemcpyHtoD(gpu.target, out.ctypes.data, out.nbytes))
    values = [np.array([int(m)], np.uint64) for m in (gpu.source, gpu.target)]
    values += [np.frombuffer(probe.parameter, np.uint8)] if probe.parameter else []
    pointers = np.array([v.ctypes.data for v in values], np.uint64)
    check(cuda.cuLaunchKernel(function, *probe.grid, *probe.block, 0, 0, pointers.ctypes.data, 0))
    check(cuda.cuCtxSynchronize())
    check(cuda.cuMemcpyDtoH(out.ctypes.data, gpu.target, out.nbytes))
    check(cuda.cuModuleUnload(module))
    return out


def main(path: str) -> None:
    gpu, outputs, refused = open_gpu(), dict[str, Any](), list[str]()
    for probe in chain(memory_probes.probes(), atomic_probes.probes(), control_probes.probes()):
        try:
            outputs[probe.name] = run(probe, gpu)
        except RuntimeError as error:
            refused.append(f"{probe.name}: {error}")
    ends = np.cumsum([len(words) for words in outputs.values()])
    fatal = [f"{name}: {alone(name)}" for name in control_probes.fatal()]
    print(*fatal, sep="\n")
    np.savez_compressed(
        path, names=np.array(list(outputs)), ends=ends, words=np.concatenate(list(outputs.values())),
        refused=np.array(refused, str), fatal=np.array(fatal, str),
    )  # fmt: skip
    print(len(outputs), "programs,", len(refused), "refused")


def alone(name: str) -> str:
    """How a program ends in a process of its own."""
    command = [sys.executable, "-m", "tests.hw.record_probes", "--fatal", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "does not end"
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def end(name: str) -> str:
    """The error of the driver, or the output in words."""
    try:
        return " ".join(map(str, run(control_probes.fatal()[name], open_gpu())[::8]))
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    print(end(sys.argv[2])) if sys.argv[1] == "--fatal" else main(sys.argv[1])
