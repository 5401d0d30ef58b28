"""Commands called in this process, and what they said."""

import contextlib
import io
import json
from typing import Any, NamedTuple

from coursepkg.cli import main


class Said(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document of the last line."""
        return json.loads(self.out.splitlines()[-1])

    @property
    def mistake(self) -> str:
        """The message of a mistake, which is one line and the only one."""
        assert (self.code, self.out) == (2, "")
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        return self.err


def said(*arguments: object) -> Said:
    """`coursepkg ...` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*map(str, arguments)])
    return Said(code, out.getvalue(), err.getvalue())
