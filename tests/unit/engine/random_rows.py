"""Random kernels as of `random_control`, whose `u` begins with the number of a thread's row: rows of a warp
part from each other, lanes of a row do so at times, and both read a table at places of the row's own."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from tests.unit.engine.random_control import FACTOR, MASK, Control, State, Thread

WORDS = 96
TABLE = (np.arange(WORDS, dtype="u8") * 2654435761 % (1 << 32)).astype("u4")


@dataclass
class RowControl(Control):
    """`row`: threads of one. `flat`: CTAs have one dimension."""

    row: int = 16
    flat: bool = False

    @staticmethod
    def of_rows(rng: random.Random) -> RowControl:
        program = Control.random(rng, exchange=rng.random() < 0.2, uniform=False)
        for state in program.states:
            state.by_u = rng.random() < 0.75
            state.guarded &= rng.random() < 0.5
        return RowControl(program.states, program.fuel, rng.choice([4, 8, 16]), rng.random() < 0.5)

    def block(self, rows: int) -> tuple[int, ...]:
        return (self.row * rows,) if self.flat else (self.row, rows)

    def ptx(self) -> str:
        linear = "mov.u32 %t, %tid.x;\n    mov.u32 %n, %ntid.x;"
        places = (
            f"and.b32 %lane, %t, {self.row - 1};\n    shr.u32 %r, %t, {self.row.bit_length() - 1};"
            if self.flat
            else "mov.u32 %lane, %tid.x;\n    mov.u32 %r, %tid.y;\n"
            f"    mad.lo.u32 %t, %r, {self.row}, %lane;\n"
            f"    mov.u32 %n, %ntid.y;\n    mul.lo.u32 %n, %n, {self.row};"
        )
        text = super().ptx()
        text = text.replace("(.param .u64 out)", "(.param .u64 out, .param .u64 table)")
        text = text.replace(linear, f"{linear}\n    {places}")
        text = text.replace(".reg .b64 %a, %o;", ".reg .b32 %lane, %r; .reg .b64 %a, %o, %table, %p;")
        given = "ld.param.u64 %a, [out];"
        text = text.replace(given, f"{given} ld.param.u64 %table, [table];")
        begins = "mov.u32 %u, %cta;\n    mad.lo.u32 %u, %u, 64, %r;"
        return text.replace("mov.u32 %u, %cta;", begins).replace("mov.u32 %once, %cta;", "mov.u32 %once, %r;")

    def _state(self, i: int, s: State) -> str:
        """After it is stirred, `acc` gets a word of the table that is the row's, or the lane's."""
        stirred = f"mad.lo.u32 %u, %u, {FACTOR}, {s.constant};\n"
        lane = "    add.u32 %v, %v, %lane;\n" if s.constant & 1 else ""
        reads = (
            f"    shr.u32 %v, %u, {s.shift % 25};\n    and.b32 %v, %v, 63;\n{lane}"
            "    mul.wide.u32 %p, %v, 4;\n    add.u64 %p, %p, %table;\n"
            "    ld.global.u32 %v, [%p];\n    add.u32 %acc, %acc, %v;\n"
        )
        return super()._state(i, s).replace(stirred, stirred + (reads if s.constant & 2 else ""))

    def thread(self, cta: int, t: int, threads: int) -> Thread:
        row, lane = divmod(t, self.row)
        return Thread(cta * threads + t, cta * 64 + row, row, self.fuel, box=t, lane=lane)

    def read(self, thread: Thread, s: State) -> None:
        if s.constant & 2:
            place = (thread.u >> s.shift % 25 & 63) + (thread.lane if s.constant & 1 else 0)
            thread.acc = (thread.acc + int(TABLE[place])) & MASK
