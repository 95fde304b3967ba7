"""File tests of the verifier: every finding is expected on its line, and nothing else is found.

In `verify/*.ptx`, `// error: MESSAGE` or `// warning: MESSAGE` stands on the offending line, once for each
finding, and may be followed by `// hint: HINT`. Messages and hints are compared whole.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simt.ptx.parser import parse
from simt.verify import verify

FILES = sorted((Path(__file__).parent / "verify").glob("*.ptx"))
MARK = re.compile(r"// (error|warning|hint): (.*?)\s*(?=// (?:error|warning|hint): |$)")
Finding = tuple[int, str, str, str | None]


def expected_findings(text: str) -> list[Finding]:
    """(line, severity, message, hint) of every mark; hint None: any."""
    found: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        for kind, words in MARK.findall(line):
            if kind == "hint":
                found[-1] = (*found[-1][:3], words)
            else:
                found.append((number, kind, words, None))
    return found


def actual_findings(text: str, name: str) -> list[Finding]:
    module, syntax = parse(text, name)
    assert module is not None
    findings = [*syntax, *verify(module)]
    return [(d.line, d.severity.value, d.message, d.hint) for d in findings]


def without_free_hints(actual: list[Finding], expected: list[Finding]) -> list[Finding]:
    """Hints are compared only where the file states one."""
    stated = {(line, severity, message) for line, severity, message, hint in expected if hint is not None}
    return [f if f[:3] in stated else (*f[:3], None) for f in actual]


def ordered(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (f[0], f[1], f[2], f[3] or ""))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_findings(path: Path) -> None:
    text = path.read_text()
    expected = expected_findings(text)
    actual = without_free_hints(actual_findings(text, path.name), expected)
    assert ordered(actual) == ordered(expected)


def test_there_are_files_and_expectations() -> None:
    assert sum(len(expected_findings(p.read_text())) for p in FILES) >= 120


def test_findings_come_in_source_order() -> None:
    for path in FILES:
        module, _ = parse(path.read_text(), path.name)
        assert module is not None
        starts = [d.span.start for d in verify(module)]
        assert starts == sorted(starts), path.name
