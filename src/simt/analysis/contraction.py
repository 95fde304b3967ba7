"""Products and sums that name no rounding become fused operations, where ptxas makes them so (decision 23).

A product becomes part of a fused operation if every use of it is a sum or difference that names no rounding
either, has the same type and `.ftz`, and stands behind it in the same basic block, or anywhere if a factor is
a constant or a kernel's parameter. Copies and negations on the way are looked through. Where both operands of
a sum are such products, the one with less uses is taken, else the first; the other is used as it is.

What an instruction can be here (`Form.contraction`) and where basic blocks end (`Form.ends_block`) the
catalogue says; the outcome are ordinary operations of it. Both engines run what this pass leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

from simt.analysis.program import Barrier, Block, Function, Jump, Op, Operand
from simt.analysis.ssa import uses
from simt.imports import Later
from simt.isa.algebra import Environment

if TYPE_CHECKING:
    from simt.analysis import contraction_rewriting, contraction_scan, quotients
    from simt.analysis.contraction_scan import Product, Sum
else:
    contraction_rewriting = Later("simt.analysis.contraction_rewriting")
    contraction_scan = Later("simt.analysis.contraction_scan")
    quotients = Later("simt.analysis.quotients")

SUMS = ("sum", "difference")
"""What a form that may read a product can be."""
FIRST = 20
"""The compute capability, times ten, from which devices have fused operations."""


def contract(function: Function, environment: Environment) -> None:
    """Fuses the function's products and sums. What they compute besides stays as it is."""
    if not environment.fmad or environment.machine < FIRST:
        return
    if environment.approx == "hardware":
        quotients.expand(function)
    if not _may_fuse(function):
        return
    scan = contraction_scan.Scan(_chains(function), contraction_scan.Live(function))
    _settle_equal(scan.sums)
    fused = [*_choose(scan.sums, single=True), *_choose(scan.sums, single=False)]
    if fused:
        contraction_rewriting.Rewriting(function, scan, fused).run()


def _may_fuse(function: Function) -> bool:
    """Whether some sum may read a product, or a copy or negation of one: where none does, as in most
    functions, there is nothing to look at any closer."""
    ops = [op for op in function.ops() if isinstance(op, Op) and op.form.contraction]
    exact = [op for op in ops if not op.binding.get("rnd")]
    held = {d for op in exact if op.form.contraction == "product" for d in op.destinations}
    sums = [uses(op) for op in exact if op.form.contraction in SUMS]
    if not held or not sums:
        return False
    copies = [op for op in ops if op.form.contraction in ("copy", "negation")]
    before = 0
    while before < len(held):
        before = len(held)
        for op in copies:
            if not held.isdisjoint(uses(op)):
                held.update(op.destinations)
    return any(not held.isdisjoint(read) for read in sums)


def _chains(function: Function) -> Iterator[list[Block]]:
    """Blocks that are one to ptxas: jumps to a block that nothing else leads to and barriers divide none."""
    before = Counter(s for b in function.blocks for s in b.successors())
    before[function.blocks[0]] += 1
    inner = {_next(b) for b in function.blocks} - {None}
    for block in function.blocks:
        if block in inner and before[block] == 1:
            continue
        chain = [block]
        while (following := _next(chain[-1])) is not None and before[following] == 1:
            chain.append(following)
        yield chain


def _next(block: Block) -> Block | None:
    match block.terminator:
        case Jump(target=following) | Barrier(next=following):
            return following
        case _:
            return None


def _settle_equal(sums: list[Sum]) -> None:
    """A sum of two equal products is twice one of them, which is then used as it is, if one has no other use.
    Not so for pairs."""
    for item in sums:
        found = [product for product, negated in item.products.values() if not negated]
        if item.op.form.contraction != "sum" or item.of_pairs or len(found) < 2:
            continue
        alone = any(len(product.uses) == 1 and not product.blocked for product in found)
        if alone and _key(found[0]) == _key(found[1]):
            found[0].blocked = found[1].blocked = True


def _key(product: Product) -> frozenset[tuple[Operand, int]]:
    sources = (product.op.sources["a"], product.op.sources["b"])
    return frozenset(zip(sources, product.versions))


def _choose(sums: list[Sum], single: bool) -> Iterator[Sum]:
    """Sums that are fused, in the order of the program, each with the product of less uses. ptxas goes
    through them twice, first for products with a `single` use; once for pairs."""
    for item in sums:
        free = [(n, len(p.uses)) for n, (p, _) in item.products.items() if not p.blocked]
        found = [(n, uses) for n, uses in free if item.of_pairs or (uses == 1) == single]
        if item.chosen or not found:
            continue
        item.chosen = min(found, key=itemgetter(1))[0]
        for name, (product, _) in item.products.items():
            product.blocked |= name != item.chosen
        yield item
