"""Runs a real CUDA kernel, compiled by nvcc to PTX, without a GPU; checks it and draws what it computed.

`make demo` runs this. The kernel is `mandelbrot` of tests/programs/mandelbrot.cu: nothing in it was
written for this program's benefit, and neighbouring lanes of a warp leave its loop at different times.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from png import write_png

import simt

ROOT = Path(__file__).resolve().parent.parent
PTX = ROOT / "tests" / "programs" / "mandelbrot.ptx"
PICTURE = Path("demo.png")

WIDTH, HEIGHT, LIMIT = 1280, 960, 256
LEFT, TOP, STEP = np.float32(-2.3), np.float32(1.2), np.float32(2.4 / HEIGHT)
BLOCK = (32, 8)
GRID = (WIDTH // BLOCK[0], HEIGHT // BLOCK[1])


def main() -> int:
    device = simt.Device("sm_90")
    kernel = device.load(PTX)["mandelbrot"]
    times = device.zeros((HEIGHT, WIDTH), "i4")

    def run() -> float:
        start = time.perf_counter()
        kernel(GRID, BLOCK, (times, WIDTH, HEIGHT, LEFT, TOP, STEP, LIMIT))
        device.synchronize()
        return time.perf_counter() - start

    first, warm = run(), min(run() for _ in range(3))
    result = times.numpy()
    start = time.perf_counter()
    different = int(np.count_nonzero(result != escape_times()))
    numpy_seconds = time.perf_counter() - start
    write_png(PICTURE, colour(result))
    print_report(device, first, warm, numpy_seconds, float(result.mean()), different)
    return 1 if different else 0


def print_report(
    device: simt.Device, first: float, warm: float, numpy_seconds: float, mean_steps: float, different: int
) -> None:
    threads = WIDTH * HEIGHT
    verdict = f"{different} of {threads} pixels differ" if different else "every pixel equal to NumPy's"
    print(f"kernel    mandelbrot of {PTX.relative_to(ROOT)} on a virtual {device.name}")
    ctas = f"{GRID[0]}x{GRID[1]} CTAs of {BLOCK[0]}x{BLOCK[1]} threads"
    print(f"launch    {ctas}, {mean_steps:.1f} steps a thread")
    print(f"time      {warm * 1e3:.1f} ms ({first * 1e3:.0f} ms the first time, with compilation)")
    print(f"rate      {threads / warm / 1e6:.1f} Mpixel/s, a thread for each pixel")
    print(f"NumPy     {numpy_seconds * 1e3:.0f} ms for the same picture")
    print(f"check     {verdict}")
    print(f"picture   {PICTURE.resolve()}")


def escape_times() -> NDArray[np.int32]:
    """The same picture by NumPy, in single precision and the same order of operations."""
    cx = np.tile(LEFT + np.arange(WIDTH, dtype="f4") * STEP, HEIGHT)
    cy = np.repeat(TOP - np.arange(HEIGHT, dtype="f4") * STEP, WIDTH)
    times = np.full(WIDTH * HEIGHT, LIMIT, "i4")
    pixel = np.arange(WIDTH * HEIGHT)
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    for step in range(LIMIT):
        xx, yy = x * x, y * y
        left = xx + yy > 4
        times[pixel[left]] = step
        stay = ~left
        pixel, cx, cy, x, y, xx, yy = (v[stay] for v in (pixel, cx, cy, x, y, xx, yy))
        x, y = xx - yy + cx, np.float32(2) * x * y + cy
    return times.reshape(HEIGHT, WIDTH)


def colour(times: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Bands of colour outside the set, black inside."""
    phase = np.sqrt(times / LIMIT)[..., None] * 9 + np.array([2.6, 2.1, 1.4])
    shade = (127.5 - 127.5 * np.cos(phase)).astype("u1")
    return np.where(times[..., None] == LIMIT, np.uint8(0), shade)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except simt.SimtError as error:
        sys.exit(f"error: {error}")
