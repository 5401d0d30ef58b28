"""From text to token ids and back."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "bpe": "BPE apply_merges merge_steps",
        "bpe_train": "Merge choose_alphabet learn_merges",
        "cleaning": "check_alphabet clean unescape",
        "skipgram": "SkipGram SkipGramConfig train_skipgram",
        "spacing": "detokenize unjoin",
        "subword": "SentencePiece best_segmentation",
        "tokenizer": "to_byte_tokens",
        "vietnamese": (
            "ACCENTED LETTERS TONES TONE_MARKS compose count_tone_styles join_tone "
            "place_tones split_tone unicode_form without_marks"
        ),
        "vocabulary": "BOS EOS PAD SPECIALS UNK Vocabulary pad_batch",
        "word_vectors": (
            "WordVectors count_cooccurrences count_vectors embedding_from load_vectors "
            "ppmi save_vectors svd_vectors"
        ),
    },
)
