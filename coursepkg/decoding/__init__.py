"""From a model to sentences: greedy, sampling, beam search, reranking. Token ids in, token ids out.

The names below are looked up on first use, so that importing the package costs nothing.
"""

from coursepkg.lazy import lazy_names

_HOME = {
    "DecoderState": "state",
    "RecomputedState": "state",
    "Hypothesis": "hypothesis",
    "greedy": "generate",
    "sample": "generate",
    "beam_search": "beam",
    "SearchTrace": "trace",
    "Filter": "filters",
    "Temperature": "filters",
    "TopK": "filters",
    "TopP": "filters",
    "RepetitionPenalty": "filters",
    "Forbid": "filters",
    "source_limits": "arguments",
    "token_log_probs": "scoring",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
