"""Makes the survey's committed PTX again, with nvcc 13: `python bench/survey/build_ptx.py [NAME...]`.

The tests have some kernels for sm_100, too: for that nvcc 13 has a newer LLVM, which writes other loops.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parent / "kernels"
ARCH = 80
FOR_SM_100 = Path(__file__).resolve().parents[2] / "tests" / "bench" / "for_sm_100"


def build(source: Path, target: Path, arch: int = ARCH) -> None:
    """What nvcc makes of a kernel, as PTX."""
    subprocess.run(["nvcc", "-ptx", f"-arch=compute_{arch}", str(source), "-o", str(target)], check=True)


if __name__ == "__main__":
    for source in sorted(KERNELS.glob("*.cu")):
        if source.stem in sys.argv[1:] or len(sys.argv) == 1:
            build(source, source.with_suffix(".ptx"))
            if (other := FOR_SM_100 / f"{source.stem}.ptx").exists():
                build(source, other, 100)
