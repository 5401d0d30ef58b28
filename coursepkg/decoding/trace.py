"""What beam search looked at, step by step, so that its search tree can be drawn."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Node:
    """One candidate: a token after a parent."""

    step: int
    """Tokens up to and with this one, forced ones included; 1 for the first."""
    token: int
    """Its id."""
    parent: int | None
    """Place of its parent in the list of nodes; None after the start."""
    log_prob: float
    """Natural logarithm of the probability of the whole path to here."""
    fate: str
    """`kept`: it went on; `ended`: it became a hypothesis; `dropped`: others were better."""


@dataclass
class SearchTrace:
    """Pass one to `beam_search`; afterwards `tree` tells what each sentence's search looked at.

    The first node of a sentence is the start (token -1, step = forced tokens that were fed at once, log_prob 0).
    """

    nodes: dict[int, list[Node]] = field(default_factory=dict)
    """For each sentence its candidates, in the order of the search."""
    alive: dict[int, list[int | None]] = field(default_factory=dict)
    """For each sentence the node of each row that goes on."""

    def tree(self, sentence: int = 0) -> list[Node]:
        """The candidates of one sentence; a parent stands before its children.

        Raises:
            ValueError: no such sentence was traced.
        """
        if sentence not in self.nodes:
            known = ", ".join(map(str, sorted(self.nodes))) or "none"
            raise ValueError(f"sentence must be one that was traced ({known}), got {sentence}")
        return self.nodes[sentence]

    def record(
        self,
        step: int,
        sentence: Tensor,
        parent: Tensor,
        token: Tensor,
        log_prob: Tensor,
        ended: Tensor,
        kept: Tensor,
    ) -> None:
        """Write one step down.

        Args:
            step: tokens of a candidate.
            sentence: (B,) numbers of the sentences still in the batch.
            parent: (B, C) row of each candidate's parent.
            token: (B, C).
            log_prob: (B, C) of the paths; candidates at -inf are left out.
            ended: bool (B, C), which became hypotheses.
            kept: (B, R) the candidates that go on, by their place among the C.
        """
        columns = (parent, token, log_prob, ended, kept)
        for number, *lists in zip(sentence.tolist(), *(c.tolist() for c in columns), strict=True):
            self._record_one(step, number, *lists)

    def _record_one(
        self,
        step: int,
        sentence: int,
        parents: list[int],
        tokens: list[int],
        log_probs: list[float],
        ended: list[bool],
        kept: list[int],
    ) -> None:
        nodes = self.nodes.setdefault(sentence, [])
        alive = self.alive.get(sentence, [None])
        place: dict[int, int] = {}
        for c, (parent, token, log_prob) in enumerate(zip(parents, tokens, log_probs, strict=True)):
            if log_prob == -float("inf"):
                continue
            fate = "ended" if ended[c] else "kept" if c in kept else "dropped"
            place[c] = len(nodes)
            nodes.append(Node(step, token, alive[parent], log_prob, fate))
        self.alive[sentence] = [place.get(c) for c in kept]
