"""PTX text of a syntax tree. Parsing the text gives the same tree again, apart from its spans."""

from __future__ import annotations

from collections.abc import Iterator

from simt.ptx.nodes import (
    Address,
    Alias,
    Arguments,
    Block,
    CallPrototype,
    Element,
    FieldValue,
    File,
    Float,
    Function,
    Guard,
    Indexed,
    Initializer,
    InitializerList,
    Instruction,
    Integer,
    Label,
    Location,
    Minus,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Performance,
    Pragma,
    Section,
    Sink,
    Statement,
    Sum,
    SymbolValue,
    Target,
    TargetList,
    TextureAddress,
    TopLevel,
    Variable,
    Vector,
)


def print_module(module: Module) -> str:
    """The whole module as PTX text."""
    lines = [".version {}.{}".format(*module.version)]
    if module.target.names:
        lines.append(_target(module.target))
    if module.address_size is not None:
        lines.append(f".address_size {module.address_size}")
    for item in module.items:
        if isinstance(item, Variable) and item.shares:
            lines[-1] = f"{lines[-1].removesuffix(';')}, {item.name};"
        else:
            lines.extend(_top_level(item))
    return "\n".join(lines) + "\n"


def format_instruction(instruction: Instruction) -> str:
    """An instruction with its guard and its `;`, on one line."""
    opcode = instruction.spelled
    text = ", ".join(format_operand(x) for x in instruction.operands)
    return f"{_guard(instruction.guard)}{opcode}{' ' + text if text else ''};"


def format_operand(operand: Operand) -> str:
    """An operand as an instruction writes it."""
    match operand:
        case Name(name=text):
            return text
        case Element(base=base, selector=selector):
            return f"{base.name}.{selector}"
        case Integer() | Float():
            return _constant(operand)
        case Address(base=base, offset=offset):
            return f"[{_signed(offset)}]" if base is None else f"[{format_operand(base)}{_offset(offset)}]"
        case Vector(elements=elements):
            return "{" + _list(elements) + "}"
        case _:
            return _rare_operand(operand)


def format_variable(variable: Variable) -> str:
    """A declaration of one name, without linkage and `;`."""
    v = variable
    parts = [f".{v.space}" + ("" if v.bank is None else f"[{v.bank}]")]
    if v.attributes:
        parts.append(_attributes(v.attributes))
    if v.align is not None:
        parts.append(f".align {v.align}")
    if v.vector != 1:
        parts.append(f".v{v.vector}")
    parts.append(str(v.type))
    if v.pointer is not None:
        parts.append(".ptr" + (f" .{v.pointer.space}" if v.pointer.space else ""))
        parts.extend([f".align {v.pointer.align}"] if v.pointer.align is not None else [])
    count = "" if v.count is None else f"<{v.count}>"
    dimensions = "".join("[]" if n is None else f"[{n}]" for n in v.dimensions)
    value = "" if v.initializer is None else f" = {_initializer(v.initializer)}"
    return " ".join(parts) + f" {v.name}{count}{dimensions}{value}"


# ---------------------------------------------------------------- operands


def _rare_operand(operand: Operand) -> str:
    match operand:
        case Sink():
            return "_"
        case Negated(operand=inner):
            return "!" + format_operand(inner)
        case Minus(operand=inner):
            return "-" + format_operand(inner)
        case Pair(first=first, second=second):
            return f"{format_operand(first)}|{format_operand(second)}"
        case Arguments(elements=elements):
            return f"({_list(elements)})"
        case Indexed(array=array, index=None, offset=offset):
            return f"{array.name}[{_signed(offset)}]"
        case Indexed(array=array, index=index, offset=offset) if index is not None:
            return f"{array.name}[{format_operand(index)}{_offset(offset)}]"
        case Sum(base=base, offset=offset):
            return f"{base.name}+{_signed(offset)}"
        case TextureAddress(texture=texture, coordinates=coordinates, sampler=sampler):
            middle = "" if sampler is None else f"{sampler.name}, "
            return f"[{texture.name}, {middle}{format_operand(coordinates)}]"
        case _:
            return format_operand(operand)


def _list(elements: tuple[Operand, ...]) -> str:
    return ", ".join(format_operand(x) for x in elements)


def _constant(constant: Integer | Float) -> str:
    if isinstance(constant, Float):
        return f"0f{constant.bits:08X}" if constant.width == 32 else f"0d{constant.bits:016X}"
    if constant.unsigned and constant.value < 1 << 63:
        return f"{constant.value}U"
    return _signed(constant.value)


def _signed(value: int) -> str:
    """A number as written. The literal 2^63 is unsigned, so -2^63 takes a detour."""
    return "-9223372036854775807-1" if value == -(1 << 63) else str(value)


def _offset(offset: int) -> str:
    return f"+{_signed(offset)}" if offset else ""


def _guard(guard: Guard | None) -> str:
    return "" if guard is None else f"@{'!' if guard.negated else ''}{guard.predicate.name} "


def _initializer(value: Initializer) -> str:
    match value:
        case InitializerList(elements=elements):
            return "{" + ", ".join(_initializer(x) for x in elements) + "}"
        case SymbolValue():
            return _symbol(value)
        case FieldValue(name=field, value=given):
            return f"{field.name} = {given.name if isinstance(given, Name) else given.value}"
        case _:
            return _constant(value)


def _symbol(value: SymbolValue) -> str:
    text = f"generic({value.name.name})" if value.generic else value.name.name
    text += _offset(value.offset)
    return text if value.mask is None else f"0x{value.mask:X}({text})"


# ---------------------------------------------------------------- statements


def _statement(statement: Statement, indent: str) -> Iterator[str]:
    match statement:
        case Instruction():
            yield indent + format_instruction(statement)
        case Label(name=name):
            yield f"{name}:"
        case Block():
            yield from _block(statement, indent)
        case CallPrototype():
            yield indent + _prototype(statement)
        case TargetList(label=label, kind=kind, targets=targets):
            yield f"{indent}{label}: .{kind} {_list(targets)};"
        case _:
            for line in _directive(statement):
                yield indent + line


def _block(block: Block, indent: str) -> Iterator[str]:
    yield indent + "{"
    for statement in block.statements:
        yield from _statement(statement, indent + "    ")
    yield indent + "}"


def _directive(item: Variable | Location | Pragma | File | Section) -> Iterator[str]:
    match item:
        case Variable():
            yield f"{_linkage(item.linkage)}{format_variable(item)};"
        case Location():
            rest = f", {item.rest}" if item.rest else ""
            yield f".loc {item.file} {item.line} {item.column}{rest}"
        case Pragma():
            yield ".pragma {};".format(", ".join(f'"{s}"' for s in item.strings))
        case File():
            index = "" if item.index is None else f"{item.index} "
            rest = "".join(f", {n}" for n in item.rest)
            yield f'.file {index}"{item.name}"{rest}'
        case Section():
            yield from _section(item)


def _section(section: Section) -> Iterator[str]:
    if section.lines is None:
        yield f".section {section.name} {section.rest}".rstrip()
        return
    yield from (f".section {section.name}", "{", *section.lines, "}")


def _prototype(prototype: CallPrototype) -> str:
    returns = f"{_parameters(prototype.returns)} " if prototype.returns else ""
    end = " .noreturn;" if prototype.noreturn else ";"
    return f"{prototype.label}: .callprototype {returns}_ {_parameters(prototype.parameters)}{end}"


# ---------------------------------------------------------------- module scope


def _top_level(item: TopLevel) -> Iterator[str]:
    match item:
        case Function():
            yield from _function(item)
        case Target():
            yield _target(item)
        case Alias(name=name, aliasee=aliasee):
            yield f".alias {name}, {aliasee};"
        case _:
            yield from _directive(item)


def _function(function: Function) -> Iterator[str]:
    marks = f"{_attributes(function.attributes)} " if function.attributes else ""
    returns = f"{_parameters(function.returns)} " if function.returns else ""
    tuning = "".join(f" {_performance(p)}" for p in function.performance)
    head = f"{_linkage(function.linkage)}.{function.kind} {marks}{returns}{function.name}"
    end = ";" if function.body is None else ""
    yield f"{head}{_parameters(function.parameters)}{tuning}{end}"
    if function.body is not None:
        yield from _block(function.body, "")


def _parameters(variables: tuple[Variable, ...]) -> str:
    return "({})".format(", ".join(format_variable(v) for v in variables))


def _performance(performance: Performance) -> str:
    values = (str(v) if isinstance(v, int) else f"{v[0]}:{v[1]}" for v in performance.values)
    return f".{performance.name} {', '.join(values)}".rstrip()


def _target(target: Target) -> str:
    return f".target {', '.join(target.names)}"


def _linkage(linkage: str) -> str:
    return f".{linkage} " if linkage else ""


def _attributes(attributes: tuple[str, ...]) -> str:
    return f".attribute({', '.join(attributes)})"
