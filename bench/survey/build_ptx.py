"""Makes the survey's committed PTX again, with nvcc 13: `python bench/survey/build_ptx.py [NAME...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parent / "kernels"

if __name__ == "__main__":
    for source in sorted(KERNELS.glob("*.cu")):
        if source.stem in sys.argv[1:] or len(sys.argv) == 1:
            target = source.with_suffix(".ptx")
            subprocess.run(["nvcc", "-ptx", "-arch=compute_80", str(source), "-o", str(target)], check=True)
