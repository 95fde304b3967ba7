"""Random kernels with wild control flow, as PTX, and what each of their threads must compute.

Every program is a graph of states. A state stirs `acc` (different in every lane) and `u` (the same in all
lanes that passed the same states), then goes to other states by a bit of one of them; a supply of
`fuel` ends it. States may exchange values with other threads between two barriers, update under a guard,
and choose among three successors by `brx.idx`. Threads that are done do not take part in barriers any more.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

MASK = 0xFFFFFFFF
FACTOR = 1664525
DONE = -1

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %done, %q;
    .reg .b32 %acc, %u, %fuel, %t, %n, %cta, %g, %z, %s, %other, %v, %once;
    .reg .b64 %a, %o;
    .shared .align 4 .b32 box[128];
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %cta, %ctaid.x;
    mad.lo.u32 %g, %cta, %n, %t;
    mov.u32 %acc, %g;
    mov.u32 %u, %cta;
    mov.u32 %once, %cta;
    mov.u32 %s, box;
    mad.lo.u32 %s, %t, 4, %s;
    st.shared.u32 [%s], %t;
"""
TAIL = """END:
    xor.b32 %acc, %acc, %u;
    add.u32 %acc, %acc, %once;
    mul.wide.u32 %o, %g, 4;
    add.u64 %a, %a, %o;
    st.global.u32 [%a], %acc;
    ret;
}
"""


@dataclass
class State:
    """`next`: two or three states, `DONE` among them. `guard`: how many times `acc` grows under a guard.
    `exchange`: distance of the thread whose value is read, 0 for none. `keep`: `once` takes `u`."""

    constant: int
    shift: int
    by_u: bool
    next: list[int]
    guarded: bool
    exchange: int
    keep: bool

    def bits(self, acc: int, u: int) -> int:
        return ((u if self.by_u else acc) >> self.shift) & 3


@dataclass
class Thread:
    """Where a thread is, in the reference."""

    acc: int
    u: int
    once: int
    fuel: int
    state: int = 0
    box: int = 0
    choice: int = 0
    stirred: bool = False
    lane: int = 0


@dataclass
class Control:
    """A random program. `uniform`: all branches are by `u`, so that all threads of a CTA stay together."""

    states: list[State]
    fuel: int

    @staticmethod
    def random(rng: random.Random, exchange: bool, uniform: bool) -> Control:
        count = rng.randint(1, 8)

        def state() -> State:
            successors = [
                rng.choice([*range(count), DONE]),
                *rng.choices(range(count), k=rng.choice([1, 1, 2])),
            ]
            return State(
                constant=rng.getrandbits(32), shift=rng.randrange(1, 30),
                by_u=uniform or rng.random() < 0.3, next=successors, guarded=rng.random() < 0.4,
                exchange=rng.randint(1, 40) if exchange and rng.random() < 0.4 else 0,
                keep=rng.random() < 0.3,
            )  # fmt: skip

        return Control([state() for _ in range(count)], rng.randint(3, 30))

    # ------------------------------------------------------------------ as PTX

    def ptx(self) -> str:
        body = "".join(self._state(i, s) for i, s in enumerate(self.states))
        return f"{HEAD}    mov.u32 %fuel, {self.fuel};\n{body}{TAIL}"

    def _state(self, i: int, s: State) -> str:
        lines = [f"mad.lo.u32 %{r}, %{r}, {FACTOR}, {s.constant};" for r in ("acc", "u")]
        lines += [f"shr.u32 %z, %{'u' if s.by_u else 'acc'}, {s.shift};", "and.b32 %z, %z, 3;"]
        lines += ["setp.eq.u32 %q, %z, 1;"]
        lines += ["@%q add.u32 %acc, %acc, %fuel;"] if s.guarded else []
        lines += self._exchange(s.exchange) if s.exchange else []
        lines += ["mov.u32 %once, %u;"] if s.keep else []
        lines += ["sub.u32 %fuel, %fuel, 1;", "setp.le.s32 %done, %fuel, 0;", "@%done bra END;"]
        names = [f"S{n}" if n != DONE else "END" for n in s.next]
        if len(names) == 2:
            lines += ["setp.ne.u32 %q, %z, 0;", f"@%q bra {names[1]};", f"bra {names[0]};"]
        else:
            lines += [f"T{i}: .branchtargets {', '.join(names)};", "min.u32 %z, %z, 2;", f"brx.idx %z, T{i};"]
        return f"S{i}:\n" + "".join(f"    {line}\n" for line in lines)

    @staticmethod
    def _exchange(distance: int) -> list[str]:
        return [
            "st.shared.u32 [%s], %acc;",
            "bar.sync 0;",
            f"add.u32 %other, %t, {distance};",
            "rem.u32 %other, %other, %n;",
            "mov.u32 %v, box;",
            "mad.lo.u32 %v, %other, 4, %v;",
            "ld.shared.u32 %v, [%v];",
            "add.u32 %acc, %acc, %v;",
            "bar.sync 0;",
        ]

    # ------------------------------------------------------------------ as Python

    def expected(self, cta: int, threads: int) -> list[int]:
        """What the threads of a CTA store."""
        return [((t.acc ^ t.u) + t.once) & MASK for t in self.finished(cta, threads)]

    def finished(self, cta: int, threads: int) -> list[Thread]:
        """The threads of a CTA at the end: each runs alone up to its next exchange; then all exchange."""
        crew = [self.thread(cta, t, threads) for t in range(threads)]
        while any(t.state != DONE for t in crew):
            for thread in crew:
                self._run(thread)
            waiting = [i for i, t in enumerate(crew) if t.state != DONE]
            for i in waiting:
                crew[i].box = crew[i].acc
            for i in waiting:
                other = crew[(i + self.states[crew[i].state].exchange) % threads]
                crew[i].acc = (crew[i].acc + other.box) & MASK
        return crew

    def thread(self, cta: int, t: int, threads: int) -> Thread:
        """A thread of a CTA as it begins."""
        return Thread(cta * threads + t, cta, cta, self.fuel, box=t)

    def read(self, thread: Thread, s: State) -> None:
        """Some kinds of programs add something to `acc`."""

    def _run(self, thread: Thread) -> None:
        """Runs a thread until it is done or has come to an exchange."""
        while thread.state != DONE:
            state = self.states[thread.state]
            if not thread.stirred:
                self._stir(thread, state)
                thread.stirred = True
                if state.exchange:
                    return
            thread.stirred = False
            self._leave(thread, state)

    def _stir(self, thread: Thread, s: State) -> None:
        thread.acc = (thread.acc * FACTOR + s.constant) & MASK
        thread.u = (thread.u * FACTOR + s.constant) & MASK
        self.read(thread, s)
        thread.choice = s.bits(thread.acc, thread.u)
        if s.guarded and thread.choice == 1:
            thread.acc = (thread.acc + thread.fuel) & MASK

    @staticmethod
    def _leave(thread: Thread, s: State) -> None:
        if s.keep:
            thread.once = thread.u
        thread.fuel -= 1
        if thread.fuel <= 0:
            thread.state = DONE
        elif len(s.next) == 2:
            thread.state = s.next[thread.choice != 0]
        else:
            thread.state = s.next[min(thread.choice, 2)]
