"""All cases: importing the modules that make problems puts them into `CASES`."""

from survey import (
    algebra,
    bits,
    counting,
    images,
    library,
    networks,
    pictures,
    private,
    science,
    sparse,
    stencils,
    streams,
    systems,
    tiles,
    trees,
    vectors,
    words,
)
from survey.case import CASES

__all__ = [
    "CASES",
    "algebra",
    "bits",
    "counting",
    "images",
    "library",
    "networks",
    "pictures",
    "private",
    "science",
    "sparse",
    "stencils",
    "streams",
    "systems",
    "tiles",
    "trees",
    "vectors",
    "words",
]
