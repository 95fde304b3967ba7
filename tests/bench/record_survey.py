"""Records what a real NVIDIA GPU gives for every kernel of the survey.

    python -m tests.bench.record_survey [OUTPUT.json] [--size full] [--flags="-arch=compute_90 ..."]

`--size`: `quick`, small, if nothing is said. `--flags`: of nvcc, which compiles the kernels; else they are as
they are committed. (`compare_survey` says what simt does otherwise.) Needs NumPy and `cuda.bindings.driver`
(the package cuda-python), and simt's sources, of which nothing runs. Of the arrays that a problem changes,
digests.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracle.record import checked, driver, upload

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from suite.problem import Launch, Problem, triple
from suite.versions import resolved
from survey.case import KERNELS
from survey.catalogue import CASES

RESULTS = Path(__file__).with_name("survey_on_gpu.json")
PLAIN_SHARED = 48 << 10
"""Bytes of shared memory that a launch has without asking for more."""


def compiled(flags: str) -> dict[str, bytes]:
    """PTX of all kernels by nvcc with some flags; as it is committed, if there are none."""
    if not flags:
        return {name: case.ptx.read_bytes() for name, case in CASES.items()}
    with tempfile.TemporaryDirectory() as folder:

        def made(source: str) -> bytes:
            ptx = Path(folder) / f"{source}.ptx"
            command = ["nvcc", "-ptx", "-w", *flags.split(), str(KERNELS / f"{source}.cu"), "-o", str(ptx)]
            subprocess.run(command, check=True)
            return ptx.read_bytes()

        sources = sorted({case.source for case in CASES.values()})
        with ThreadPoolExecutor() as pool:
            texts = dict(zip(sources, pool.map(made, sources), strict=True))
    return {name: texts[case.source] for name, case in CASES.items()}


def digest(problem: Problem, name: str, values: NDArray[Any]) -> str:
    """Of an array's bits; of its sorted values, if they may be in any order."""
    if name in problem.unordered:
        values = np.sort(values, axis=None)
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:32]


def run(problem: Problem, ptx: bytes) -> dict[str, NDArray[Any]]:
    """What the arrays hold that the launches change, on the GPU."""
    module = checked(driver().cuModuleLoadData(ptx + b"\0"))
    pointers = {name: upload(np.ascontiguousarray(values)) for name, values in problem.arrays.items()}
    for launch in problem.launches:
        _launch(module, launch, {name: np.uint64(p) for name, p in pointers.items()} | problem.scalars)
    checked(driver().cuCtxSynchronize())
    found = dict[str, NDArray[Any]]()
    for name in problem.changed or problem.arrays:
        values = np.empty_like(np.ascontiguousarray(problem.arrays[name]))
        checked(driver().cuMemcpyDtoH(values.ctypes.data, pointers[name], values.nbytes))
        found[name] = values
    for pointer in pointers.values():
        checked(driver().cuMemFree(pointer))
    checked(driver().cuModuleUnload(module))
    return found


def _launch(module: Any, launch: Launch, known: dict[str, Any]) -> None:
    function = checked(driver().cuModuleGetFunction(module, launch.kernel.encode()))
    if launch.shared > PLAIN_SHARED:
        most = driver().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        checked(driver().cuFuncSetAttribute(function, most, launch.shared))
    values = [np.array(value) for value in resolved(launch, known)]
    places = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
    extents = (*triple(launch.grid), *triple(launch.block))
    checked(driver().cuLaunchKernel(function, *extents, launch.shared, 0, ctypes.addressof(places), 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--size", choices=["quick", "full"], default="quick")
    parser.add_argument("--flags", default="")
    given = parser.parse_args()
    texts = compiled(given.flags)
    checked(driver().cuInit(0))
    checked(driver().cuCtxSetCurrent(checked(driver().cuDevicePrimaryCtxRetain(0))))
    checked(driver().cuCtxSetLimit(driver().CUlimit.CU_LIMIT_STACK_SIZE, 16384))
    digests = dict[str, dict[str, str]]()
    for name, case in CASES.items():
        problem = case.problem(given.size)
        try:
            found = run(problem, texts[name])
        except RuntimeError as error:
            print(f"{name}: {error}")
            continue
        digests[name] = {array: digest(problem, array, values) for array, values in found.items()}
    device = checked(driver().cuDeviceGet(0))
    gpu = checked(driver().cuDeviceGetName(100, device)).split(b"\0")[0].decode()
    made = {"size": given.size, "flags": given.flags}
    recorded = {"gpu": gpu, "driver": checked(driver().cuDriverGetVersion()), **made, "digests": digests}
    given.output.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
