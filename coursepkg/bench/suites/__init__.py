"""One module a suite; each has `cases(device)`, which lists what is raced there."""
