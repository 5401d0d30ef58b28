"""The letters that name tensor dimensions everywhere in this package and in the book.

| letter | dimension |
| --- | --- |
| B | batch: sequences that are processed side by side |
| T | target length: the number of queries |
| S | source length: the number of keys and values |
| H | query heads |
| G | key-value heads; H is a multiple of G |
| D | dimension of one head |
| E | dimension of the model (embedding) |
| V | vocabulary size |
| F | features of a linear-attention feature map |

A docstring that says "q (B, H, T, D)" refers to this table. Internal functions carry
the same letters as jaxtyping annotations, which the test suite checks at run time and
which cost nothing otherwise.
"""

LEGEND = {
    "B": "batch",
    "T": "target length (queries)",
    "S": "source length (keys and values)",
    "H": "query heads",
    "G": "key-value heads",
    "D": "head dimension",
    "E": "model dimension",
    "V": "vocabulary size",
    "F": "features of a feature map",
}
