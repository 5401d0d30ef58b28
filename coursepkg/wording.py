"""Numbers and reasons in sentences."""


def counted(n: int, what: str) -> str:
    """A number with its noun.

    Example:
        >>> [counted(n, "clip") for n in (0, 1, 3875)]
        ['0 clips', '1 clip', '3,875 clips']
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def one_line(reason: object) -> str:
    r"""What a library says, in one line; of an exception that says nothing, its name.

    Example:
        >>> one_line(ValueError("no such\n  thing")), one_line(MemoryError())
        ('no such thing', 'MemoryError')
    """
    text = " ".join(str(reason).split())
    return text or (type(reason).__name__ if isinstance(reason, BaseException) else "")
