"""The lines of the suite."""

from __future__ import annotations

import numpy as np

from suite.problem import Entry

F2, F8 = np.dtype("f2"), np.dtype("f8")

ENTRIES = (
    Entry("saxpy", "saxpy"),
    Entry("black_scholes", "black_scholes"),
    Entry("sgemm", "matmul"),
    Entry("nbody", "nbody"),
    Entry("reduce_tree", "reduce_tree"),
    Entry("reduce_shuffle", "reduce_shuffle", native="reduce_tree"),
    Entry("scan", "scan"),
    Entry("scan three passes", "scan_three_passes", native="scan"),
    Entry("histogram", "histogram"),
    Entry("mandelbrot", "mandelbrot"),
    Entry("transpose", "transpose"),
    Entry("convolution", "convolution"),
    Entry("bitonic_sort", "bitonic_sort"),
    Entry("spmv", "spmv"),
    Entry("kmeans", "kmeans"),
    Entry("bfs", "bfs"),
    Entry("sha256", "sha256"),
    Entry("monte_carlo", "monte_carlo"),
    Entry("fft", "fft"),
    Entry("lu", "lu"),
    Entry("saxpy f16", "saxpy", F2),
    Entry("black_scholes f64", "black_scholes", F8),
    Entry("dgemm", "matmul", F8),
    Entry("nbody f64", "nbody", F8),
    Entry("mandelbrot f64", "mandelbrot", F8),
    Entry("black_scholes ftz", "black_scholes", ftz=True),
    Entry("nbody ftz", "nbody", ftz=True),
    Entry("convolution ftz", "convolution", ftz=True),
    Entry("black_scholes h200", "black_scholes", approx="hardware"),
    Entry("nbody h200", "nbody", approx="hardware"),
)
