"""The survey's kernels, which nvcc compiled, have an H200's bits (`record_survey.py`, small sizes)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import simt

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from suite.versions import resolved
from survey.case import Case
from survey.catalogue import CASES

from tests.bench.record_survey import RESULTS, digest
from tests.shares import share

RECORDED = json.loads(RESULTS.read_text())["digests"]
ANY_ORDER = {
    "cg", "segred", "sum_atomic", "scatter_f64", "ln_back", "kcluster", "kmeans_update", "cic", "q1_groups",
    "coo", "pagerank", "dot_warps",  # atomic sums of floats, which round as the order is
    "sph_cells", "bfs_queue", "chained",  # places in lists that threads get by atomic operations
}  # fmt: skip
"""Kernels whose bits depend on which thread of which CTA is first. (`test_survey.py` has C for them.)"""


SURE = [case for name, case in CASES.items() if name not in ANY_ORDER]


@pytest.mark.parametrize("case", share(SURE, 5), ids=lambda case: case.name)
def test_bits_of_a_gpu(case: Case) -> None:
    problem = case.problem("quick")
    device = simt.Device("sm_90", approx="hardware", workers=1)
    module = device.load(case.ptx)
    arrays = {name: device.array(values) for name, values in problem.arrays.items()}
    for launch in problem.launches:
        arguments = tuple(resolved(launch, {**arrays, **problem.scalars}))
        module[launch.kernel](launch.grid, launch.block, arguments, launch.shared)
    found = {name: digest(problem, name, arrays[name].numpy()) for name in problem.changed or problem.arrays}
    assert found == RECORDED[case.name]


def test_every_kernel_is_recorded() -> None:
    assert RECORDED.keys() == CASES.keys()
    assert CASES.keys() >= ANY_ORDER
    assert all(RECORDED.values())
