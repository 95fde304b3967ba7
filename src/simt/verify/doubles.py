"""Double precision for a target that has none (PTX 1.4 table 107, decision 21).

The text asks for `map_f64_to_f32` there. ptxas does not, and an H200 computes in double precision, so it is a
warning; on a device that has no double precision itself, an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.form import Binding, Requirement, main_type
from simt.isa.targets import FIRST_DOUBLE_TARGET
from simt.ptx.types import F64
from simt.verify.context import Context, Problem
from simt.verify.site import Site

DIRECTED = frozenset({"rm", "rp"})


def uses_double(binding: Binding) -> bool:
    return any(v is F64 for v in binding.values())


def usable_target(site: Site, needed: Requirement) -> int:
    """The target that counts for what an instruction needs: double precision is there with
    `map_f64_to_f32`, and where its lack is no error of the module."""
    context = site.context
    there = (context.map_f64_to_f32 and uses_double(site.binding)) or _is_lacking(site, needed)
    return max(context.target, FIRST_DOUBLE_TARGET) if there else context.target


def _is_lacking(site: Site, needed: Requirement) -> bool:
    """Whether nothing but double precision is missing. Like with ptxas, directed roundings of arithmetic are
    none of it: they stay errors."""
    context, binding = site.context, site.binding
    alone = needed.target == FIRST_DOUBLE_TARGET > context.target and needed.version <= context.version
    directed = main_type(site.form, binding) is F64 and binding.get("rnd") in DIRECTED
    return alone and uses_double(binding) and not context.map_f64_to_f32 and not directed


def double_problems(site: Site, needed: Requirement) -> Iterator[Problem]:
    """An error where the device has no double precision; else a warning, once for a module."""
    context = site.context
    if not _is_lacking(site, needed):
        return
    needs, span = f"`{site.spelled}` requires sm_{needed.target} or later", site.instruction.span
    lacks = f"{needs}, the module's .target is {context.target_name}"
    if context.machine is not None and context.machine < FIRST_DOUBLE_TARGET:
        yield Problem(f"{lacks} and the device is sm_{context.machine}", span, _ways(context, "a device"))
    elif not context.warned_of_doubles:
        context.warned_of_doubles = True
        consequence = f"devices below sm_{FIRST_DOUBLE_TARGET} do not load the module"
        yield Problem(f"{lacks}: {consequence}", span, _ways(context, "`.target`"), True)


def _ways(context: Context, newer: str) -> str:
    single = f"`.target {context.target_name}, map_f64_to_f32` for single precision (table 107)"
    return f"expected {newer} from sm_{FIRST_DOUBLE_TARGET} on for double precision, or {single}"
