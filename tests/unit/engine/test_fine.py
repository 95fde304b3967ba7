"""Code of kernels that are somewhat larger than usual: coarse at first, fine once it has run for a while.

Here every kernel with two or three blocks is such a one, and one launch is long enough, but where a test says
otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simt
from simt.engine import compile as compiling
from simt.engine import fine, llvm_calls
from simt.engine.fine import Coarse
from simt.engine.jit import Jit
from simt.engine.prepared import Prepared
from simt.machine.launch import Launch
from tests.unit.engine.test_drafts import LOOP, SUM

COARSE, FINE, SETTLED = "coarse", "fine", "settled"


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bool]:
    """For each time that fine code was asked for: whether there was any."""
    found = list[bool]()
    finer = compiling.finer

    def noted(*what: object) -> object:
        made = finer(*what)  # pyright: ignore[reportArgumentType]
        found.append(made is not None)
        return made

    monkeypatch.setattr(compiling, "finer", noted)
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SIMT_DRAFTS", "0")
    monkeypatch.setattr(llvm_calls, "PLACES", 1)
    monkeypatch.setattr(fine, "MUCH", 1e-6)
    monkeypatch.setattr(fine, "SAMPLE", 1)
    monkeypatch.setattr(fine, "SHORT", 0)
    monkeypatch.setattr(fine, "WORSE", 1e9)
    return found


class Program:
    """The kernel on a device of its own, what its array is to hold, and by which code launches ran."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, text: str = SUM) -> None:
        self.device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=None, workers=1)
        self.kernel = self.device.load(text)["k"]
        self.array, self.expected, self.n = self.device.zeros(100, "u4"), np.zeros(100, "u4"), 100
        self.kinds = list[str]()
        launch = Jit.launch

        def noted(jit: Jit, made_ready: Launch) -> None:
            launch(jit, made_ready)
            assert isinstance(made_ready.state, Prepared)
            coarse = made_ready.state.compiled.coarse
            self.kinds.append(
                SETTLED if coarse is None else FINE if isinstance(coarse, fine.Fine) else COARSE
            )

        monkeypatch.setattr(Jit, "launch", noted)

    def run(self, times: int = 1) -> list[str]:
        for _ in range(times):
            self.kernel(-(-self.n // 64), 64, (self.array, self.n))
            self.expected += np.arange(self.n, dtype="u4")
            np.testing.assert_array_equal(self.array.numpy(), self.expected)
        return self.kinds


def test_fine_code_follows(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(monkeypatch)
    assert program.run(3) == [COARSE, FINE, SETTLED]
    assert program.run(9)[3:] in ([SETTLED] * i for i in range(9)), "then launches may need no engine"
    assert tried == [True]


def test_the_cache_has_it_for_later_processes(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    assert Program(monkeypatch).run(2) == [COARSE, FINE]
    assert Program(monkeypatch).run(2)[:1] == [SETTLED]
    assert tried == [True]


def test_coarse_code_that_runs_little_stays(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine, "MUCH", 1 << 60)
    program = Program(monkeypatch)
    assert program.run(5) == [COARSE] * 5
    monkeypatch.setattr(fine, "SHORT", 1 << 60)
    assert len(program.run(20)) < 15, "short launches need no engine"
    assert not tried


def test_programs_that_launch_kernels_a_few_times_wait_longer(
    tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fine, "MAKING", 1 << 60)
    assert Coarse(7, patient=True).enough == 7 << 60
    monkeypatch.setenv("SIMT_DRAFTS", "all")
    assert FINE not in Program(monkeypatch).run(5)
    assert not tried


def test_fine_code_that_is_slower_goes(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine, "WORSE", 0)
    program = Program(monkeypatch)
    assert program.run(3) == [COARSE, FINE, SETTLED]
    assert Program(monkeypatch).run(2)[:1] == [SETTLED], "the cache has the coarse code again, for good"
    assert tried == [True]


def test_what_would_be_too_long_stays_coarse(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    assert Program(monkeypatch, LOOP).run(2) == [COARSE, SETTLED]
    assert Program(monkeypatch, LOOP).run(1) == [SETTLED]
    assert tried == [False]


def test_a_fault_of_the_compiler_leaves_it_coarse(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> object:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(compiling, "finer", fails)
    monkeypatch.setattr("simt.engine.jit._is_ours", bool)
    program = Program(monkeypatch)
    with pytest.warns(simt.CompilerWarning, match="keeps the code"):
        assert program.run(2) == [COARSE, SETTLED]


def test_sequences_keep_what_they_began_with(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Their launches share memory that other code is not to give back."""
    program = Program(monkeypatch)
    with program.device.capture() as sequence:
        for _ in range(2):
            program.kernel(2, 64, (program.array, program.n))
    for _ in range(3):
        sequence.launch()
    np.testing.assert_array_equal(program.array.numpy(), 6 * np.arange(100))
    assert not tried
