"""Kernels that the suite does not have, each against plain C: see bench/README.md."""
