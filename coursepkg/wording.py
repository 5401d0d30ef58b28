"""Numbers in sentences."""


def counted(n: int, what: str) -> str:
    """A number with its noun.

    Example:
        >>> [counted(n, "clip") for n in (0, 1, 3875)]
        ['0 clips', '1 clip', '3,875 clips']
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
