"""Products and sums are fused as ptxas fuses them, in random lines of them."""

from __future__ import annotations

import json

import pytest

from tests.conftest import shared_device
from tests.hw.fused_lines import KINDS, RESULTS, Kind, digest, of_program, program

RECORDED = json.loads(RESULTS.read_text())["digests"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.name}-{kind.length}")
def test_what_is_fused(kind: Kind) -> None:
    device = shared_device("interpreter")
    seeds = [seed for seed in kind.seeds if kind.key(seed) in RECORDED]
    texts = {seed: program(kind, seed) for seed in seeds}
    wrong = [s for s, t in texts.items() if digest(of_program(kind, t, device)) != RECORDED[kind.key(s)]]
    assert len(seeds) > 0.8 * len(kind.seeds)
    assert not wrong, texts[wrong[0]]


def test_most_lines_have_some() -> None:
    trees = [
        of_program(KINDS[0], program(KINDS[0], seed), shared_device("interpreter")) for seed in range(40)
    ]
    assert sum("fma" in repr(tree) for tree in trees) > 30
