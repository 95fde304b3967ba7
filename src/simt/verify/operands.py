"""Rules for the operands of one instruction (sections 6.1-6.4, 7.4; tables 17-19)."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import chain

from simt.diagnostics import counted
from simt.isa.form import Binding, OperandForm, Requirement, Selector
from simt.isa.special_registers import READERS, SPECIAL_REGISTERS, SpecialRegister
from simt.isa.targets import FIRST_PROTOTYPES
from simt.ptx import nodes
from simt.ptx.agreement import agrees, elements_agree
from simt.ptx.symbols import Scope
from simt.ptx.types import PRED, Kind, Type, bits_type
from simt.records import replace
from simt.verify.agreement import expected_register
from simt.verify.context import Problem, dotted, requirement_problems
from simt.verify.describe import describe, written
from simt.verify.numbers import is_function, is_sum, number
from simt.verify.shapes import Shape, What
from simt.verify.site import Place, Site
from simt.verify.variables import MAX_VECTOR_BITS


def value_problems(place: Place, operand: nodes.Operand) -> Iterator[Problem]:
    """A register, vector or constant operand."""
    shape = place.site.shapes.of(operand)
    if place.form.destination and isinstance(operand, nodes.Pair):
        yield from _pair(place, operand)
    elif place.form.paired:
        yield _unpaired(place, operand)
    elif shape.what is What.VECTOR and isinstance(operand, nodes.Vector):
        yield from _vector(place, operand)
    elif _takes_vectors(place):
        yield refusal(place, operand, shape)
    elif place.count > 1 and _moves_bits(place, shape):
        yield _bits_moved(place, operand, shape)
    elif not _fits(place, shape):
        yield from _taken_apart(place, operand) or (refusal(place, operand, shape),)
    elif _narrow_conversion(place):
        yield narrow(operand, 32, 64)
    elif isinstance(operand, nodes.Integer | nodes.Float):
        yield from _range(place, operand)
    elif shape.what in (What.SUM, What.FUNCTION) and "addresses" not in place.site.form.traits:
        yield number(place, operand, shape)
    elif shape.what is What.VARIABLE:
        yield from _address_width(place, operand, shape)
    elif shape.special is not None:
        yield from _special_since(place, operand, shape.special)


def _range(place: Place, operand: nodes.Integer | nodes.Float) -> Iterator[Problem]:
    """Constants have a value that the form allows."""
    allowed = place.site.form.ranges.get(place.form.name)
    if allowed is None or operand.value in allowed:
        return
    message = f"{place.role} `{place.form.name}` of `{place.site.spelled}` cannot be {operand.value}"
    yield Problem(message, operand.span, f"expected {_values(allowed)}")


def _address_width(place: Place, operand: nodes.Operand, shape: Shape) -> Iterator[Problem]:
    """Addresses of global variables and textures are as wide as the module says."""
    needed = place.site.context.address_bits
    if needed == 64 and shape.space in ("global", "tex") and place.type.bits == 32:
        message = f"the address of {written(operand)} has {needed} bits, `{place.site.spelled}` takes 32"
        yield Problem(message, operand.span)


def _narrow_conversion(place: Place) -> bool:
    """Whether a conversion of addresses takes 32 bits in a module of 64-bit addresses."""
    site = place.site
    converts = site.form.converts_addresses and not place.form.destination
    return converts and site.context.address_bits == 64 and place.type.bits == 32


def narrow(operand: nodes.Operand, bits: int, needed: int) -> Problem:
    message = f"{written(operand)} has {bits} bits, but addresses of this module have {needed}"
    return Problem(message, operand.span, f"expected a {needed}-bit integer or untyped register")


def _values(allowed: Container[float]) -> str:
    match allowed:
        case range() if len(allowed) == 1:
            return str(allowed.start)
        case range() if allowed.step > 1:
            return f"a multiple of {allowed.step} below {allowed.stop}"
        case range():
            return f"a value from {allowed.start} to {allowed.stop - 1}"
        case ():
            return "a register"
        case _:
            return str(allowed)


def _special_since(place: Place, operand: nodes.Operand, register: SpecialRegister) -> Iterator[Problem]:
    """Version and target that a special register needs (notes of tables 86-95)."""
    context, needed = place.site.context, register.requirement
    if needed.version > context.version:
        message = f"{written(operand)} requires PTX ISA {dotted(needed.version)} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", operand.span)
    elif needed.target > context.target:
        message = f"{written(operand)} requires sm_{needed.target} or later"
        yield Problem(f"{message}, the module's .target is {context.target_name}", operand.span)


def refusal(place: Place, operand: nodes.Operand, shape: Shape) -> Problem:
    """Why this operand cannot stand here."""
    if shape.what is What.UNKNOWN:
        return undeclared(place.site.scope, operand)
    if shape.what is What.NO_ELEMENT:
        return Problem(f"{written(operand)} does not exist: {_no_element(place, operand)}", operand.span)
    site = place.site
    if isinstance(operand, nodes.Indexed | nodes.Sum) and shape.parts[0].what is What.UNKNOWN:
        name = operand.array if isinstance(operand, nodes.Indexed) else operand.base
        return undeclared(place.site.scope, name)
    if isinstance(operand, nodes.Indexed) and shape.kind == "scalar":
        return no_array(operand.array, "the address of bytes behind it is written `name + bytes`")
    if shape.what is What.SPECIAL and place.form.destination:
        return Problem(
            f"the special register {written(operand)} cannot be written", operand.span, _hint(place)
        )
    if shape.what is What.SPECIAL and not _reads_special(site):
        readers = " and ".join(f"`{r}`" for r in sorted(READERS, reverse=True))
        message = f"`{site.spelled}` cannot read the special register {written(operand)}"
        return Problem(message, operand.span, f"special registers are read with {readers}")
    message = f"{place.role} `{place.form.name}` of `{site.spelled}` cannot be {describe(operand, shape)}"
    return Problem(message, operand.span, _hint(place))


def no_array(name: nodes.Name, hint: str = "an address is written `[name + bytes]`") -> Problem:
    """An index counts elements: there must be some."""
    return Problem(f"{written(name)} is not an array", name.span, hint)


def undeclared(scope: Scope, operand: nodes.Operand) -> Problem:
    """A name that nothing declares."""
    name = operand.base if isinstance(operand, nodes.Element) else operand
    text = name.name if isinstance(name, nodes.Name) else ""
    family = scope.family(text)
    if family is not None and family.count:
        hint = (
            f"`{family.name}<{family.count}>` declares `{family.name}0` to `{family.name}{family.count - 1}`"
        )
        return Problem(f"{written(name)} is not declared", operand.span, hint)
    known = chain(scope.names(), SPECIAL_REGISTERS if text.startswith("%") else ())
    return Problem(f"{written(name)} is not declared", operand.span, unknown=(text, known))


def _no_element(place: Place, operand: nodes.Operand) -> str:
    if not isinstance(operand, nodes.Element):
        return "no such element"
    base = place.site.shapes.of(operand.base)
    if base.count > 1:
        return f"{written(operand.base)} has {base.count} elements"
    return f"{written(operand.base)} is not a vector"


def _hint(place: Place) -> str:
    return f"expected {_expected(place)}"


def _expected(place: Place) -> str:
    t, form = place.type, place.form
    if form.kind == "imm":
        return "an integer constant"
    if t.is_predicate:
        return "a .pred register" + ("" if form.destination else ", its negation, or the constant 0 or 1")
    if form.spec.startswith("generic("):
        return "an integer or untyped register of 32 or 64 bits, or an integer constant"
    registers = expected_register(t, place.relaxed)
    if place.count > 1 or _takes_vectors(place):
        return f"a vector of {counted(place.count, 'element')}, each {registers}"
    if form.spec.startswith("pack("):
        return f"{registers}, or a vector of 2 or 4 elements with {t.bits} bits together"
    if form.selector is not None:
        registers += f", alone or with {selectors(form.selector)}"
    if form.destination or place.site.form.ranges.get(form.name) == ():
        return registers
    return registers + _constant(t, ", or" if place.relaxed or form.selector else " or")


def selectors(selector: Selector) -> str:
    """The words of a selector, as `.h0 or .h1`."""
    *first, last = (f".{p}" for p in selector.patterns)
    return f"{', '.join(first)} or {last}" if first else last


def _constant(t: Type, conjunction: str) -> str:
    if t.is_native_float:
        return f"{conjunction} a floating-point constant"
    return f"{conjunction} an integer constant" if t.is_integer or t.kind is Kind.BITS else ""


def _fits(place: Place, shape: Shape) -> bool:
    """Whether an operand that is neither a vector in braces nor a pair may stand here."""
    match shape.what:
        case What.REGISTER:
            element = bool(shape.kind) and _is_video(place)  # like ptxas
            return place.form.kind == "value" and not element and _register_fits(place, shape)
        case What.SUBWORD:
            return _part_fits(place, shape)
        case What.SINK:
            return place.form.destination and _may_be_discarded(place)
        case _ if place.form.destination:
            return False
        case What.MINUS:
            return (
                place.form.signed
                and shape.parts[0].what in (What.REGISTER, What.SUBWORD)
                and (_fits(place, shape.parts[0]))
            )
        case What.INTEGER:
            return place.count == 1 and (
                place.type.is_integer or place.type.kind in (Kind.BITS, Kind.PREDICATE)
            )
        case What.FLOAT:
            return place.count == 1 and _float_fits(place, shape.count)
        case What.SPECIAL:
            return _special_fits(place, shape)
        case What.VARIABLE | What.FUNCTION | What.LABEL:
            return _address_fits(place, shape) or is_function(place, shape)
        case What.INDEXED:  # `mov d, variable[2]`
            return len(shape.parts) == 1 and not shape.kind and _variable_fits(place, shape.parts[0])
        case What.SUM:
            return _variable_fits(place, shape.parts[0]) or is_sum(place, shape)
        case What.NEGATED:
            return (
                place.type.is_predicate
                and shape.parts[0].what is What.REGISTER
                and _fits(place, shape.parts[0])
            )
        case _:
            return False


def _is_video(place: Place) -> bool:
    """Whether operands of the instruction have selectors."""
    return any(o.selector for o in place.site.form.operands)


def _part_fits(place: Place, shape: Shape) -> bool:
    """Parts of registers, as the form's selector has them."""
    selector = place.form.selector
    return selector is not None and selector.takes(shape.kind) and _register_fits(place, shape)


def _register_fits(place: Place, shape: Shape) -> bool:
    assert shape.type is not None
    if shape.type.kind is Kind.PACKED and place.type.is_integer and not _named_by_modifier(place):
        return False  # like ptxas
    if place.form.spec.startswith("generic("):
        return is_address_register(shape) and shape.type.bits in (32, 64)
    if place.count == shape.count:
        return agrees(place.type, shape.type, place.relaxed)
    if place.count == 1 and place.form.spec.startswith("pack("):
        return shape.type.bits * shape.count == place.type.bits
    return False


def _named_by_modifier(place: Place) -> bool:
    """Whether the instruction's modifiers say the operand's type: `b:u32` has its own."""
    return place.form.spec.rpartition("(")[2].rstrip(")") in place.site.binding


def _float_fits(place: Place, width: int) -> bool:
    """A constant stands for untyped bits only if it has just as many, and never for an address."""
    t, untyped = place.type, not place.form.spec.startswith("generic(")
    return t.is_native_float or (untyped and t.kind is Kind.BITS and t.bits == width)


def _special_fits(place: Place, shape: Shape) -> bool:
    register, t = shape.special, place.type
    if register is None or not _reads_special(place.site) or place.count != shape.count:
        return False
    if register.type.is_predicate or t.is_predicate:
        return register.type is t
    if place.relaxed and not t.is_float and t.bits < register.type.bits:
        return True
    return not t.is_float and (t.bits in register.widths or t.bits == register.declared((1, 0)).bits)


def _reads_special(site: Site) -> bool:
    """`mov` and `cvt`, but not `cvt` of several values."""
    return site.instruction.opcode in READERS and len(site.form.operands) == 2


def _address_fits(place: Place, shape: Shape) -> bool:
    """`mov` and `cvta` take the address of a variable; `mov` that of a function, of a label in PTX 1.x."""
    form = place.site.form
    if "addresses" not in form.traits or place.count > 1:
        return False
    space = instruction_space(place.site.binding)
    integer = place.type.is_integer or place.type.kind is Kind.BITS
    if shape.what is What.LABEL:
        return (
            integer
            and space is None
            and place.type.bits >= 32
            and place.site.context.version < FIRST_PROTOTYPES
        )
    if shape.what not in (What.VARIABLE, What.FUNCTION):
        return False
    return integer and (space is None or (shape.what is What.VARIABLE and space == shape.space))


def _variable_fits(place: Place, shape: Shape) -> bool:
    return shape.what is What.VARIABLE and _address_fits(place, shape)


def _may_be_discarded(place: Place) -> bool:
    """Results of `p[|q]` and of operations that also change memory may go to the bit bucket."""
    form = place.site.form
    if place.type.is_predicate:
        return place.form.second is not None
    changes = not form.moves and any(o.address for o in form.operands)
    return changes and place.site.context.version >= form.requires.get("_", Requirement()).version


def _pair(place: Place, pair: nodes.Pair) -> Iterator[Problem]:
    if place.form.second is None:
        yield Problem(f"`{place.site.spelled}` has one destination", pair.span, _hint(place))
        return
    what, needed = f"the second destination of `{place.site.spelled}`", place.site.form.requires.get("|")
    if needed is not None:
        yield from requirement_problems(place.site.context, what, needed, pair.span)
    if isinstance(pair.first, nodes.Sink) and isinstance(pair.second, nodes.Sink):
        yield Problem("both destinations are `_`", pair.span, "expected a register for at least one")
        return
    if place.form.paired and isinstance(pair.second, nodes.Sink):
        yield _unpaired(place, pair.second)
        return
    if not (place.form.paired and isinstance(pair.first, nodes.Sink)):
        yield from value_problems(replace(place, form=replace(place.form, paired=False)), pair.first)
    second = Place(place.site, OperandForm(place.form.second, "pred", True, second="q"), PRED, 1)
    yield from value_problems(second, pair.second)


def _unpaired(place: Place, operand: nodes.Operand) -> Problem:
    message = f"`{place.site.spelled}` needs a second destination, a predicate"
    return Problem(message, operand.span, f"expected `{place.form.name}|{place.form.second}`")


# ---------------------------------------------------------------- vectors in braces


def _taken_apart(place: Place, operand: nodes.Operand) -> list[Problem]:
    """Like ptxas, a move of vectors takes a scalar source: its equal parts, widened with zeros, are the
    elements. Empty if this is none."""
    if place.form.destination or not _has_parts(place):
        return []
    found = list(value_problems(replace(place, count=1), operand))
    if not all(p.warning for p in found):
        return []
    message = f"source `{place.form.name}` of `{place.site.spelled}` is a scalar: each element is "
    part = f"one of its parts of {place.type.bits // place.count} bits"
    return [*found, Problem(message + part, operand.span, _hint(place), True)]


def _has_parts(place: Place) -> bool:
    """Whether the operand is a vector of a move whose elements could be parts of a scalar: in vectors of less
    than 128 bits, ptxas leaves the bits above the parts undefined (`tests.hw.language`)."""
    form = place.site.form
    moved = form.moves and not form.moves_memory and place.form.spec.startswith("vec(")
    return moved and place.count * place.type.bits == MAX_VECTOR_BITS


def _vector(place: Place, vector: nodes.Vector) -> Iterator[Problem]:
    element = _element_place(place, len(vector.elements))
    if element is None:
        yield refusal(place, vector, place.site.shapes.of(vector))
        return
    if place.form.destination and all(isinstance(e, nodes.Sink) for e in vector.elements):
        yield Problem("every element is `_`", vector.span, "expected a register for at least one")
        return
    faults = [p for e in vector.elements for p in _element(element, e)]
    yield from faults
    if not all(p.warning for p in faults):
        return
    yield from _mixed(place, vector)
    if len(vector.elements) == 1 and not _takes_vectors(place):
        message = f"{place.role} `{place.form.name}` of `{place.site.spelled}` is a vector of 1 element"
        yield Problem(message, vector.span, _hint(place), True)


def _takes_vectors(place: Place) -> bool:
    """Whether nothing but a vector in braces may stand here, be it of one element."""
    return place.form.spec.startswith(("matrices(", "fragment(", "wmma("))


def _element_place(place: Place, count: int) -> Place | None:
    """The position of one element, None if a vector of so many cannot stand here."""
    if place.form.spec.startswith("pack(") and place.count == 1:
        if count not in (2, 4) or place.type.bits // count < 8:
            return None
        part = bits_type(place.type.bits // count)
        return Place(place.site, replace(place.form, spec=part.name), part, 1)
    alone = place.site.form.moves_memory or _takes_vectors(place)
    if place.count != count or (count == 1 and not alone):
        return None  # like ptxas, loads and stores take vectors of one element
    return Place(place.site, place.form, place.type, 1)


def _element(place: Place, operand: nodes.Operand) -> Iterator[Problem]:
    shape = place.site.shapes.of(operand)
    if shape.what is What.SINK and place.form.destination:
        return
    if _moves_bits(place, shape):
        yield _bits_moved(place, operand, shape)
    elif shape.what in (What.VECTOR, What.PAIR) or not _element_fits(place, shape):
        yield refusal(place, operand, shape)
    elif shape.special is not None:
        yield from _special_since(place, operand, shape.special)


def _moves_bits(place: Place, shape: Shape) -> bool:
    """Like ptxas, moves, loads and stores of vectors take integer registers for floats of the same size."""
    if not place.site.form.moves or not place.type.is_native_float:
        return False
    held = shape.type if shape.what is What.REGISTER and shape.count == place.count else None
    return held is not None and held.is_integer and held.bits == place.type.bits


def _bits_moved(place: Place, operand: nodes.Operand, shape: Shape) -> Problem:
    message = f"{place.role} `{place.form.name}` of `{place.site.spelled}` has {describe(operand, shape)}"
    return Problem(f"{message}: its bits are taken as they are", operand.span, _hint(place), True)


def _element_fits(place: Place, shape: Shape) -> bool:
    if shape.what is What.REGISTER and shape.count > 1:
        return False
    if shape.what is What.REGISTER and shape.type is not None:
        return agrees(place.type, shape.type, place.relaxed)
    return shape.what in (What.INTEGER, What.FLOAT, What.SPECIAL) and _fits(place, shape)


def _mixed(place: Place, vector: nodes.Vector) -> Iterator[Problem]:
    """All registers of a vector have one size, and integers do not stand beside floats."""
    shapes = [(e, place.site.shapes.of(e)) for e in vector.elements]
    typed = [(e, s.type) for e, s in shapes if s.what is What.REGISTER and s.type is not None]
    for element, t in typed[1:]:
        if not elements_agree(typed[0][1], t):
            first = f"{written(typed[0][0])} ({typed[0][1]})"
            message = f"{written(element)} ({t}) and {first} cannot stand in one vector"
            yield Problem(message, element.span, "expected elements of one type")
            return


# ---------------------------------------------------------------- addresses as values


def instruction_space(binding: Binding) -> str | None:
    """The state space that an instruction is bound to: None if it takes generic addresses."""
    space = binding.get("space")
    if isinstance(space, str):
        return space.split("::")[0]
    return next((s for s in ("global", "shared", "const", "local", "param") if binding.get(s) is True), None)


def is_address_register(shape: Shape) -> bool:
    return (
        shape.what is What.REGISTER
        and shape.type is not None
        and shape.count == 1
        and shape.type.bits >= MIN_ADDRESS_BITS
        and (shape.type.is_integer or shape.type.kind is Kind.BITS)
    )


MIN_ADDRESS_BITS = 16
"""Narrower registers hold no addresses; tables 68 and 69 have addresses widened with zeros."""
