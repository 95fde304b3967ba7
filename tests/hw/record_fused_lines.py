"""Records which products and sums ptxas fuses in random lines of them.

    python -m tests.hw.record_fused_lines

Needs ptxas (CUDA 13) and nvdisasm (on PyPI: nvidia-cuda-nvdisasm). Lines whose machine code is not read here
are left out (of halves, products with constants at times).
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

from tests.hw.fused_lines import KINDS, RESULTS, digest, of_sass, program


def sass(text: str, folder: Path) -> str:
    """Machine code of a program for sm_90."""
    source, target = folder / "k.ptx", folder / "k.cubin"
    source.write_text(text)
    subprocess.run(["ptxas", "-arch=sm_90", str(source), "-o", str(target)], check=True)
    return subprocess.run(["nvdisasm", "-c", str(target)], check=True, capture_output=True, text=True).stdout


def main() -> None:
    digests = dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for seed in kind.seeds:
                code = sass(program(kind, seed), Path(folder))
                try:
                    digests[kind.key(seed)] = digest(of_sass(kind, code))
                except KeyError:
                    continue
    told = subprocess.run(["ptxas", "--version"], check=True, capture_output=True, text=True).stdout
    (version,) = re.findall(r"V[\d.]+", told)
    RESULTS.write_text(json.dumps({"ptxas": version, "digests": digests}, indent=0) + "\n")
    print(f"{len(digests)} of {sum(len(kind.seeds) for kind in KINDS)} programs")


if __name__ == "__main__":
    main()
