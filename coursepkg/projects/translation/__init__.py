"""Machine translation between Chinese or English and Vietnamese.

>>> from coursepkg.projects.translation import Translator
>>> Translator.load_default().translate(["酒店在哪里？"])[0].text
'Khách sạn ở đâu?'
"""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "back_translation.generate": "Limits back_translate problem",
        "chapter_helpers": "LONGEST LanguageTask Lesson device greedy_translation",
        "classical.rules": "RULES Rule RuleTranslator dictionary look_up",
        "classical.statistical": "NgramModel NoisyChannel Search",
        "classical.word_alignment": "Model1 best_links flipped score_alignments",
        "commands": "Train",
        "competition_rules": "check_contest_rules",
        "contrastive.batches": (
            "ContrastiveBatches MaskedVersions RoundTripVersions distinct_pairs "
            "dropout_versions four_views"
        ),
        "contrastive.task": (
            "ContrastiveTask ProjectionHead WithProjection alignment bilingual_loss "
            "mean_pool monolingual_loss retrieval_accuracy sentence_vectors "
            "similarity_matrix uniformity"
        ),
        "corpora": "CORPORA Parts load_parts random_split",
        "corpus": (
            "SentencePair pair_keys read_parallel sentence_key to_model to_reader "
            "to_scorer"
        ),
        "ensemble": "together",
        "errors.analysis": "ErrorTable analyse",
        "errors.dictionary": "RARE Dictionary",
        "errors.labelled": "ERROR_KINDS error_table labelled_errors",
        "errors.postprocess": "PostProcessor",
        "evaluate": "Evaluation bleu_of compare_systems translate_pairs",
        "export.convert": "check_exportable export_ctranslate2",
        "knn_mt": "Datastore build_datastore with_neighbours",
        "ladder.comparison": (
            "comparison_table equal_steps learning_curves verdict_lines verdicts"
        ),
        "ladder.rows": "LADDER ROWS",
        "models": (
            "Subwords build_model config_of count_parameters rebuilder search tag_of"
        ),
        "phrasebook.lexicon": "table",
        "predict": "Alternative Translation Translator",
        "published_results": (
            "RESULTS differences_to evaluation_table headline ladder_figure "
            "ladder_table pretraining_table stored_documents stored_rows with_interval"
        ),
        "recipe": "GRU_BASELINE PRESETS TINY Recipe",
        "studies.config_search": (
            "all_combinations drawn parse_grid parse_ranges results_table"
        ),
        "studies.decoding_study": "Decoder Method study_decoding",
        "studies.reranking": "noisy_channel_scorer",
        "synthetic": "Phrasebook Split Triple",
        "t5.data": (
            "IGNORED Direction T5Batches directions_of encode_pairs make_t5_batch"
        ),
        "t5.model": (
            "LETTERS SIZES coverage formula_parameters load_t5 save_t5 tiny_t5 "
            "train_tokenizer"
        ),
        "t5.nom": (
            "DOES HOW_MANY WHAT WHEN WHO ReadingTable nom_sample plain table_pairs"
        ),
        "t5.predict": "T5Translator",
        "t5.pretrain": (
            "PreTraining SpanBatches corrupt_sentence fill_spans plain_text pretrain"
        ),
        "t5.run": "score_direction table_scores",
        "t5.text": (
            "STS_LABELS c4_filters corrupt_spans draw_spans label_accuracy label_of "
            "line_fault page_fault prefix_of sts_to_text text_to_sts "
            "without_repeated_spans"
        ),
        "t5.train": "FineTuning T5Task TextToText fine_tune t5_mean_loss write_texts",
        "task": "TranslationBatches TranslationTask fitting mean_loss rotating_window",
        "train": "Trained prepare_training train_config",
    },
)
