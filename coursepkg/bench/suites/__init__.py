"""One module a suite; each has `contests(device)`, which lists what is raced there."""
