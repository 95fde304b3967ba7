"""Parts of kernels that tests write alike."""

from __future__ import annotations


def thread_number(axis: str, into: str, *, threads: str, thread: str) -> str:
    """Code for a thread's number in the grid along an axis, in the `.b32` register `into`. Afterwards
    the registers `threads` and `thread` hold the extent of the CTA and the thread's number in it."""
    return f"""    mov.u32 {into}, %ctaid.{axis};
    mov.u32 {threads}, %ntid.{axis};
    mov.u32 {thread}, %tid.{axis};
    mad.lo.u32 {into}, {into}, {threads}, {thread};"""


FILLS_SHARED = """
.visible .entry shared(.param .u64 out)   // what a CTA finds in its shared memory; then it fills that
{
    .reg .b64 %rd<3>; .reg .b32 %r<5>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r3, %r3, %r2;
    ld.shared.u32 %r4, [%r3];
    st.global.u32 [%rd2], %r4;
    st.shared.u32 [%r3], 7;
    ret;
}
"""
"""For CTAs of 64 threads."""
