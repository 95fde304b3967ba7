"""Rules for one instruction: its form, what the form needs, its guard and its operands.

Verdicts are remembered by opcode, modifiers and operand shapes: a module repeats few combinations, so
nearly every instruction costs one lookup. Only clean verdicts are remembered; everything else is
checked in full, to be reported with its own names and places.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.diagnostics import Span
from simt.isa.form import Binding, Form, OperandForm, split
from simt.isa.select import REPEATABLE, Mismatch, Selection, select
from simt.isa.targets import FIRST_DOUBLE_TARGET, FIRST_PROTOTYPES
from simt.ptx import nodes
from simt.ptx.nodes import Instruction, Operand
from simt.ptx.operands import names
from simt.ptx.symbols import Scope
from simt.ptx.types import F64
from simt.records import replace
from simt.verify.addresses import address_problems
from simt.verify.calls import call_problems
from simt.verify.context import Context, Problem, dotted, requirement_problems
from simt.verify.describe import describe, written
from simt.verify.doubles import double_problems, usable_target, uses_double
from simt.verify.operands import is_address_register, undeclared, value_problems
from simt.verify.shapes import Shapes, What
from simt.verify.site import Place, Site
from simt.verify.textures import texture_problems

UNREMEMBERED = frozenset({"call", "barrier"})
"""Kinds of control whose verdict depends on more than the shapes of the operands."""


class InstructionRules:
    """Checks the instructions of one module, in source order."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.shapes = Shapes(context.scope)
        self.scope = context.scope
        self._clean: set[tuple[object, ...]] = set()
        self._said: set[tuple[str, str]] = set()

    def enter(self, scope: Scope) -> None:
        """The following instructions stand in this scope."""
        self.scope = scope
        self.shapes.enter(scope)

    def forget(self) -> None:
        """The target has changed."""
        self._clean.clear()

    def check(self, instruction: Instruction) -> None:
        of, guard = self.shapes.of, instruction.guard
        key = (
            instruction.opcode,
            instruction.modifiers,
            None if guard is None else of(guard.predicate),
            *map(of, instruction.operands),
        )
        if key in self._clean:
            return
        problems = list(self._problems(instruction))
        self.context.report(problems)
        if not problems and self._depends_on_shapes(instruction):
            self._clean.add(key)

    def _depends_on_shapes(self, instruction: Instruction) -> bool:
        found = self._select(instruction)
        if isinstance(found, Mismatch) or not found.form.runs:
            return False
        return found.form.control not in UNREMEMBERED and not found.form.ranges

    def _select(self, instruction: Instruction) -> Selection | Mismatch:
        context = self.context
        count = len(instruction.operands)
        return select(instruction.opcode, instruction.modifiers, count, context.version, context.target)

    def _problems(self, instruction: Instruction) -> Iterator[Problem]:
        yield from self._guard(instruction)
        found = self._select(instruction)
        if isinstance(found, Mismatch):
            yield _no_form(self.context, instruction, found)
            return
        spelled = instruction.spelled
        site = Site(self.context, self.shapes, self.scope, instruction, found.form, found.binding, spelled)
        yield from _ignored(site, found.ignored)
        yield from _doubled(site)
        yield from needs_problems(site)
        yield from names_problems(site) if found.form.is_open else operand_problems(site)
        if not found.form.runs:
            yield from self._not_run(site)

    def _not_run(self, site: Site) -> Iterator[Problem]:
        """That simt knows the instruction, but does not run it; said once for each function."""
        function = self.context.function
        if (function, site.spelled) not in self._said:
            self._said.add((function, site.spelled))
            message = f"simt knows `{site.spelled}`, but does not run it"
            yield Problem(message, site.instruction.span, self._consequence(), True)

    def _consequence(self) -> str:
        name, in_kernel = self.context.function, self.context.in_kernel
        who = f"kernel `{name}`" if in_kernel else f"kernels that call `{name}`"
        return f"{who} cannot be launched; others of the module can"

    def _guard(self, instruction: Instruction) -> Iterator[Problem]:
        if instruction.guard is None:
            return
        name = instruction.guard.predicate
        shape = self.shapes.of(name)
        if shape.what is What.UNKNOWN:
            yield undeclared(self.scope, name)
        elif shape.what is not What.REGISTER or shape.type is None or not shape.type.is_predicate:
            message = f"a guard predicate cannot be {describe(name, shape)}"
            yield Problem(message, name.span, "expected a .pred register")


def _ignored(site: Site, words: tuple[str, ...]) -> Iterator[Problem]:
    for word in words:
        message = f"`.{word}` means nothing in `{site.spelled}` and is ignored"
        yield Problem(message, site.instruction.span, warning=True)


def _doubled(site: Site) -> Iterator[Problem]:
    """Like ptxas, selection takes some modifiers twice."""
    modifiers = site.instruction.modifiers
    for word in (w for w in dict.fromkeys(modifiers) if w in REPEATABLE and modifiers.count(w) > 1):
        message = f"`.{word}` stands more than once in `{site.spelled}`"
        yield Problem(message, site.instruction.span, warning=True)


def _no_form(context: Context, instruction: Instruction, mismatch: Mismatch) -> Problem:
    span = instruction.span
    if 0 <= mismatch.modifier < len(instruction.modifiers):
        span = _modifier_span(context, instruction, mismatch.modifier)
    return Problem(mismatch.message, span, mismatch.hint)


def _modifier_span(context: Context, instruction: Instruction, index: int) -> Span:
    """The place of one modifier, if the opcode is written without blanks; else that of all."""
    words = (instruction.opcode, *instruction.modifiers)
    span, text = instruction.span, context.diagnostics.source.text
    if text[span.start : span.end] != ".".join(words):
        return span
    start = span.start + sum(len(w) + 1 for w in words[: index + 1]) - 1
    return Span(start, start + len(words[index + 1]) + 1)


# ---------------------------------------------------------------- versions and targets


def needs_problems(site: Site) -> Iterator[Problem]:
    """PTX version and target that the form and its modifiers need (notes of each table)."""
    context, span, until = site.context, site.instruction.span, site.form.until
    needed = site.form.required(_as_written(site))
    double = needed.target == FIRST_DOUBLE_TARGET and uses_double(site.binding)
    hint = "`.target` option map_f64_to_f32 would allow it" if double else None
    target = usable_target(site, needed)
    yield from requirement_problems(context, f"`{site.spelled}`", needed, span, target, hint)
    yield from double_problems(site, needed)
    if until is not None and site.form.expired(context.version, context.target):
        message = f"`{site.spelled}` is not allowed after PTX ISA {dotted(until)}"
        yield Problem(f"{message}, the module's .version is {context.version_name}", span)


def _as_written(site: Site) -> Binding:
    """The binding without the `.ftz` that old modules imply: they need not know the modifier."""
    implied = site.binding.get("ftz") is True and "ftz" not in site.instruction.modifiers
    return {**site.binding, "ftz": False} if implied else site.binding


# ---------------------------------------------------------------- operands


def operand_problems(site: Site) -> Iterator[Problem]:
    """Every operand against the form's position."""
    if site.form.control == "call":
        yield from call_problems(site)
        return
    operands = site.instruction.operands
    for form, operand in zip(positions(site.form, len(operands)), operands):
        yield from _one_operand(site, form, operand)
    for operand in operands[len(site.form.operands) :]:
        yield from _surplus(site, operand)
    if site.form.control == "barrier":
        yield from _barrier(site)
    yield from _modified(site)


def names_problems(site: Site) -> Iterator[Problem]:
    """Of the operands of an open form: names that nothing declares, and addresses where the form has a
    value."""
    for form, operand in zip(site.form.operands, site.instruction.operands):
        if form.kind == "value" and isinstance(operand, nodes.Address | nodes.TextureAddress):
            described = describe(operand, site.shapes.of(operand))
            message = f"operand `{form.name}` of `{site.spelled}` cannot be {described}"
            yield Problem(message, operand.span, f"expected `{site.form.syntax}`")
    for operand in site.instruction.operands:
        for name in names(operand):
            if site.shapes.of(name).what is What.UNKNOWN:
                yield undeclared(site.scope, name)


def _surplus(site: Site, operand: Operand) -> Iterator[Problem]:
    """Like ptxas, a source that the form does not have is taken, and ignored."""
    form = OperandForm(site.form.surplus, "type")
    problems = list(value_problems(Place(site, form, *site.form.operand_type(form, site.binding)), operand))
    yield from problems
    if all(p.warning for p in problems):
        message = f"source `{form.name}` of `{site.spelled}` means nothing and is ignored"
        yield Problem(message, operand.span, f"expected `{site.form.syntax}`", True)


def _modified(site: Site) -> Iterator[Problem]:
    """What the form's check has against the modifiers of the operands."""
    if site.form.check is None or not any(o.absent for o in site.form.operands):
        return
    pairs = zip(positions(site.form, len(site.instruction.operands)), site.instruction.operands)
    bound = {k: v for form, operand in pairs for k, v in split(form, operand)[1].items()}
    message = site.form.check({**site.binding, **bound}, site.context.version)
    if message is not None:
        yield Problem(f"`{site.spelled}`: {message}", site.instruction.span)


def positions(form: Form, count: int) -> list[OperandForm]:
    """The form's operands that an instruction with `count` of them has: the last optional ones go first."""
    found = list(form.operands)
    for operand in reversed(form.operands):
        if len(found) > count and operand.optional:
            found.remove(operand)
    return found


def _one_operand(site: Site, form: OperandForm, operand: Operand) -> Iterator[Problem]:
    match form.kind:
        case "value" | "imm" | "address":
            t, count = site.form.operand_type(form, site.binding)
            place = Place(site, form, t, count)
            yield from (address_problems if form.address else value_problems)(place, operand)
        case "texture":
            t, count = F64, 1
            yield from texture_problems(Place(site, form, t, count), operand)
        case "sink" if not isinstance(operand, nodes.Sink):
            message = f"`{site.spelled}` gives nothing: {written(operand)} cannot take it"
            yield Problem(message, operand.span, "expected `_`")
        case "label":
            yield from _named(site, operand, What.LABEL)
        case "labels":
            yield from _named(site, operand, What.TARGETS)
        case _:
            yield from ()


def _named(site: Site, operand: Operand, wanted: What) -> Iterator[Problem]:
    """A label, or the label of a list of branch targets."""
    shape = site.shapes.of(operand)
    if wanted is What.LABEL and site.context.version < FIRST_PROTOTYPES and is_address_register(shape):
        return  # an indirect branch (section 6.4.4)
    if shape.what is What.UNKNOWN:
        message = f"{written(operand)} is not a {wanted.value} of this scope"
        yield replace(undeclared(site.scope, operand), message=message)
    elif shape.what is not wanted or (wanted is What.TARGETS and shape.kind != "branchtargets"):
        message = f"`{site.spelled}` cannot take {describe(operand, shape)}"
        yield Problem(message, operand.span, f"expected a {wanted.value}")


LAST_BARRIER = 15
WARP_SIZE = 32


def _barrier(site: Site) -> Iterator[Problem]:
    """Barrier numbers are 0 to 15, thread counts multiples of the warp size; `arrive` needs threads."""
    named = positions(site.form, len(site.instruction.operands))
    for form, operand in zip(named, site.instruction.operands):
        if not isinstance(operand, nodes.Integer):
            continue
        if form.name == "a" and not 0 <= operand.value <= LAST_BARRIER:
            yield Problem(
                f"there is no barrier {operand.value}", operand.span, "expected a number from 0 to 15"
            )
        if form.name == "b" and (operand.value % WARP_SIZE or (operand.value == 0 and _arrives(site))):
            message = f"{operand.value} threads cannot take part in a barrier"
            yield Problem(message, operand.span, f"expected a multiple of {WARP_SIZE}")


def _arrives(site: Site) -> bool:
    return site.binding.get("action") == "arrive"
