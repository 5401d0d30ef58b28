"""Error analysis and repair: error groups, a dictionary, numbers, terms."""
