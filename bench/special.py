"""What the hardware's approximate functions cost over the fast ones, by processor time, one core.

`python bench/special.py` prints the row of docs/special-functions.md.
"""

from __future__ import annotations

import time

import simt

FUNCTIONS = ("rcp", "rsqrt", "sqrt", "sin", "cos", "lg2", "ex2", "tanh")
EMPTY = ""
CHAINS = range(8)
"""Independent chains of operations, so that time and not delay is measured."""
ROUNDS = 40


def ptx(function: str) -> str:
    """A loop of the function and one step that keeps its operand near 1; `EMPTY`: the step alone."""
    step = "fma.rn.f32 %f{0}, %f{0}, 0f3E000000, 0f3FA00000;"  # x / 8 + 1.25
    call = f"{function}.approx.f32 %f{{0}}, %f{{0}};" if function else ""
    begin = "cvt.rn.f32.u32 %f{0}, %t; fma.rn.f32 %f{0}, %f{0}, 0f3A000000, 0f3F8{0}0000;"
    every = {name: "\n".join(text.format(i) for i in CHAINS) for name, text in
             {"begin": begin, "body": call + step, "end": "add.f32 %sum, %sum, %f{0};"}.items()}  # fmt: skip
    return f""".version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .f32 %f<8>, %sum; .reg .b32 %t, %i; .reg .pred %p; .reg .b64 %a, %o;
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
    mov.f32 %sum, 0f00000000;
    {every["begin"]}
AGAIN:
    {every["body"]}
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 200;
    @%p bra AGAIN;
    {every["end"]}
    ld.param.u64 %a, [out];
    mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o;
    st.global.f32 [%a], %sum;
    ret;
}}
"""


def best_seconds() -> dict[tuple[str, str], float]:
    """The shortest time of each function of each kind, of interleaved runs."""
    launches: dict[tuple[str, str], tuple[simt.Kernel, simt.DeviceArray]] = {}
    for approx in ("fast", "hardware"):
        device = simt.Device("sm_90", workers=1, memory="64MiB", approx=approx)
        out = device.zeros(256, "f4")
        launches |= {(f, approx): (device.load(ptx(f))["k"], out) for f in (EMPTY, *FUNCTIONS)}
    found = dict.fromkeys(launches, float("inf"))
    for _ in range(ROUNDS):
        for key, (kernel, out) in launches.items():
            start = time.process_time()
            kernel(8, 256, (out,))
            found[key] = min(found[key], time.process_time() - start)
    return found


def main() -> None:
    best = best_seconds()
    for function in FUNCTIONS:
        fast = best[function, "fast"] - best[EMPTY, "fast"]
        hardware = best[function, "hardware"] - best[EMPTY, "hardware"]
        print(f"{function:6} {hardware / fast:5.1f}")


if __name__ == "__main__":
    main()
