"""How large a picture may be: known to all who refuse one, also where no picture is ever opened."""

MOST_PIXELS = 64_000_000
"""Largest picture that is decoded or drawn, in pixels; a photograph of a phone has 12 to 50 million."""
