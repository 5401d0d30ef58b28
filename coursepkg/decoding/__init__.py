"""From a model to sentences: token ids in, token ids out.

The names below are looked up on first use, so that importing the package costs nothing.
"""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "beam": (
            "BeamScorer Candidates SearchTrace beam_search expand length_penalty_of"
        ),
        "ensemble": "EnsembleState",
        "filters": "Filter Forbid RepetitionPenalty Temperature TopK TopP",
        "generate": "greedy sample",
        "knn": "KnnOutput",
        "rerank": (
            "language_model_scorer model_log_prob n_tokens reverse_scorer "
            "token_log_probs"
        ),
        "step": "DecoderState Hypothesis RecomputedState source_limits",
    },
)
