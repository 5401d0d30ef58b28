"""Clips of signed words and their labels: scanned, decoded, sampled, cached, parted."""
