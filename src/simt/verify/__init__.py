"""The verifier: `verify(module)` applies the rules of PTX to a parsed module."""

from simt.verify.verifier import verify

__all__ = ["verify"]
