"""All cases: importing the modules that make problems puts them into `CASES`."""

from survey import (
    algebra,
    bits,
    counting,
    images,
    networks,
    pictures,
    private,
    science,
    sparse,
    stencils,
    systems,
    words,
)
from survey.case import CASES

__all__ = [
    "CASES",
    "algebra",
    "bits",
    "counting",
    "images",
    "networks",
    "pictures",
    "private",
    "science",
    "sparse",
    "stencils",
    "systems",
    "words",
]
