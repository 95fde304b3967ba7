"""The registers `%envreg` under many launches: for the recorder and for the test of what it recorded.

The kernel is `k (out)`: the first thread of the grid writes all 32.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

RECORDED = Path(__file__).parent / "vectors" / "environment.json"
COUNT = 32
"""Of the registers."""

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """`shared`: bytes of dynamic shared memory. `parameters`: bytes of a second parameter, which the kernel
    does not read. `stack`: bytes of a thread that the context is told to keep, 0 for as many as before."""

    version: str = "9.0"
    target: str = "sm_90"
    grid: Shape = (1, 1, 1)
    block: Shape = (32, 1, 1)
    shared: int = 0
    parameters: int = 0
    stack: int = 0
    cooperative: bool = False
    own_stream: bool = False

    @property
    def text(self) -> str:
        size = ".address_size 64\n" if float(self.version) >= 2.3 else ""
        more = f", .param .b8 more[{self.parameters}]" if self.parameters else ""
        reads = "\n".join(
            f"    mov.u32 %r, %envreg{n}; st.global.u32 [%out+{4 * n}], %r;" for n in range(COUNT)
        )
        return f""".version {self.version}
.target {self.target}
{size}.entry k (.param .u64 out{more})
{{
    .reg .u64 %out; .reg .u32 %r, %s; .reg .pred %p;
    mov.u32 %r, %ctaid.x; mov.u32 %s, %ctaid.y; or.b32 %r, %r, %s; mov.u32 %s, %ctaid.z; or.b32 %r, %r, %s;
    mov.u32 %s, %tid.x; or.b32 %r, %r, %s; mov.u32 %s, %tid.y; or.b32 %r, %r, %s;
    mov.u32 %s, %tid.z; or.b32 %r, %r, %s; setp.ne.u32 %p, %r, 0; @%p bra end;
    ld.param.u64 %out, [out];
{reads}
end:
    exit;
}}
"""

    @property
    def name(self) -> str:
        """What sets it apart from the plain launch."""
        plain = asdict(Launch())
        apart = [f"{field} {value}" for field, value in asdict(self).items() if value != plain[field]]
        return ", ".join(apart) or "plain"


LAUNCHES: tuple[Launch, ...] = (
    Launch(),
    Launch(),
    Launch("2.1", "sm_20"),
    Launch("6.0", "sm_60"),
    *(Launch(grid=grid) for grid in ((2, 1, 1), (7, 1, 1), (3, 5, 1), (3, 5, 2), (100_000, 1, 1))),
    *(Launch(block=block) for block in ((1, 1, 1), (64, 1, 1), (8, 4, 1), (8, 4, 2), (1024, 1, 1))),
    Launch(grid=(4, 3, 2), block=(16, 2, 2)),
    Launch(shared=1024),
    Launch(shared=48 * 1024),
    Launch(parameters=8),
    Launch(parameters=4000),
    Launch(own_stream=True),
    Launch(cooperative=True),
    Launch(grid=(4, 2, 2), cooperative=True),
    Launch(stack=16 * 1024),
    Launch(),
)
"""In the order in which they run; one module for each."""
