"""Makes the committed PTX again, with nvcc: `python bench/suite/build_ptx.py [ENTRY...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from suite.catalogue import ENTRIES
from suite.problem import KERNELS, Entry


def build(entry: Entry) -> None:
    half = ("-DREAL=__half",) if "-DHALF" in entry.defines else ()
    options = [*entry.defines, *half, f"-ftz={str(entry.ftz).lower()}", f"-I{KERNELS.parent}"]
    source = KERNELS / entry.folder / "kernel.cu"
    subprocess.run(
        ["nvcc", "-ptx", "-arch=compute_75", *options, str(source), "-o", str(entry.ptx)], check=True
    )


if __name__ == "__main__":
    for one in ENTRIES:
        if one.name in sys.argv[1:] or len(sys.argv) == 1:
            build(one)
