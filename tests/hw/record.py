"""Records on a real GPU what the tests replay: `python -m tests.hw.record [--only NAME ...] [--out FOLDER]`.

Needs an NVIDIA GPU of compute capability 9.0, `cuda.bindings` and NumPy. Without `--out` the files replace
those in `tests/hw/vectors`. Results are raw bits, those of NaNs too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from tests.hw import (
    record_arithmetic,
    record_calls,
    record_contraction,
    record_conversions,
    record_environment,
    record_flushing,
    record_halves,
    record_halves_by_bytes,
    record_language,
    record_probes,
    record_since_7,
    record_tensor,
    record_textures,
    record_video,
    record_wild,
)

PARTS: dict[str, Callable[[str], None]] = {
    "arithmetic": record_arithmetic.main,
    "calls": record_calls.main,
    "contraction": record_contraction.main,
    "conversions": record_conversions.main,
    "environment": record_environment.main,
    "flushing": record_flushing.main,
    "probes": record_probes.main,
    "since_7": record_since_7.main,
    "tensor": record_tensor.main,
    "textures": record_textures.main,
    "halves": record_halves.main,
    "halves_by_bytes": record_halves_by_bytes.main,
    "video": record_video.main,
    "wild": record_wild.main,
    "language": lambda path: record_language.record(Path(path)),
}
"""What writes one file each; `halves`, `halves_by_bytes`, `environment`, `since_7` and `wild` a JSON file.
Recorders of their own write `printf.json` (`tests.hw.record_printf`), `special.json` (`record_special`) and
`special_results.npz` (`dump_special`)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=[*PARTS], help="a part; may be given several times"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "vectors")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only or PARTS:
        start = time.monotonic()
        PARTS[name](str(arguments.out / f"{name}.npz"))
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
