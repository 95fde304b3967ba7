"""The survey's kernels, which nvcc compiled, have an H200's bits (`record_survey.py`, small sizes)."""

from __future__ import annotations

import json

import pytest

from tests.bench.compare_survey import differing
from tests.bench.record_survey import CASES, RESULTS
from tests.shares import share

RECORDED = json.loads(RESULTS.read_text())["digests"]
ANY_ORDER = {
    "cg", "segred", "sum_atomic", "scatter_f64", "ln_back", "kcluster", "kmeans_update", "cic", "q1_groups",
    "coo", "pagerank", "dot_warps", "spgemm", "tets",  # atomic sums of floats, which round as the order is
    "sph_cells", "bfs_queue", "chained", "izhikevich",  # places in lists that threads get by atomics
}  # fmt: skip
"""Kernels whose bits depend on which thread of which CTA is first. (`test_survey.py` has C for them.)"""


SURE = [name for name in CASES if name not in ANY_ORDER]


@pytest.mark.parametrize("name", share(SURE, 5))
def test_bits_of_a_gpu(name: str) -> None:
    case = CASES[name]
    assert differing(case.problem("quick"), case.ptx.read_bytes(), RECORDED[name]) == []


def test_every_kernel_is_recorded() -> None:
    assert RECORDED.keys() == CASES.keys()
    assert CASES.keys() >= ANY_ORDER
    assert all(RECORDED.values())
