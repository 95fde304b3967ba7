"""Dumps from a real GPU what the special function unit's tables are found from:
`python -m tests.hw.dump_special [--out FILE]`. Needs an NVIDIA GPU, `cuda.bindings` and NumPy.

Every block of results that `tests.hw.fit_special` asks for comes from the GPU and goes into the file.
`python -m tests.hw.fit_special --from FILE` then finds the tables, on any machine.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from tests.hw.fit_special import BANDS, VECTORS
from tests.hw.record_special import Gpu
from tests.hw.special import BLOCK_BITS, functions, module_text
from tests.hw.special_dump import Dump, Results
from tests.unit.isa.meaning import Array


def of_gpu(gpu: Gpu) -> Results:
    """The results that a GPU gives."""
    named = {function.name: function for function in functions()}

    def results(opcode: str, block: int) -> Array:
        found = np.empty(1 << BLOCK_BITS, np.float32)
        gpu.results(gpu.load(module_text(named[opcode])), block << BLOCK_BITS, found)
        return found

    return results


def kept(results: Results, dump: Dump) -> Results:
    """The same results, each block written to a file as well."""

    def read(opcode: str, block: int) -> Array:
        values = results(opcode, block)
        dump.add(opcode, block, values)
        return values

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=VECTORS)
    path = parser.parse_args().out
    gpu = Gpu()
    dump = Dump(path, ", ".join(f"{key} {value}" for key, value in gpu.about().items()))
    for name, read in BANDS.items():
        start = time.monotonic()
        read(kept(of_gpu(gpu), dump))
        print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
    dump.close()
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
