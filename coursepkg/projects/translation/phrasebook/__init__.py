"""The grammar and lexicon of `translation.synthetic.Phrasebook`.

``topics/*.tsv`` holds the sentence patterns, ``sets.tsv`` the sets of phrases that
they share, and ``lexicon/*.tsv`` the words. ``patterns`` reads them, ``restrictions``
says which phrases go together, ``lexicon`` and ``numbers`` inflect words and numbers,
and ``interlinear`` is the notation.
"""
