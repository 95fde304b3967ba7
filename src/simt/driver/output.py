"""Where kernels print, unless the user says otherwise."""

from __future__ import annotations

import sys


def print_text(text: str) -> None:
    """Writes to standard output as it is now; what its encoding lacks is written as an escape."""
    stream = sys.stdout
    try:
        stream.write(text)
    except UnicodeEncodeError as problem:
        stream.write(text.encode(problem.encoding, "backslashreplace").decode(problem.encoding))
