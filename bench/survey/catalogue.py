"""All cases: importing the modules that make problems puts them into `CASES`."""

from survey import algebra, bits, counting, images, networks, private, science, sparse, stencils
from survey.case import CASES

__all__ = [
    "CASES",
    "algebra",
    "bits",
    "counting",
    "images",
    "networks",
    "private",
    "science",
    "sparse",
    "stencils",
]
