"""What orders whole grids (PTX 7.8 griddepcontrol)."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction


@instruction("griddepcontrol.action", action="launch_dependents wait", since="7.8 sm_90", effects="memory",
             ref="PTX 7.8 griddepcontrol", seam="launch_dependents")  # fmt: skip
def grid_dependencies(m: Algebra[V]) -> None:
    """Lets grids begin that depend on this one, or waits for those that it depends on.

    Grids run one after the other here: those before have ended, those behind begin when this one has.
    """
    m.fence("gl")
