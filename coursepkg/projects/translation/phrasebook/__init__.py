"""The grammar and lexicon behind :class:`coursepkg.projects.translation.synthetic.Phrasebook`.

``interlinear`` is the notation, ``english`` the inflection, ``lexicon/*.tsv`` the words; ``nouns``, ``persons``,
``predicates``, ``numerals`` and ``calendar`` make phrases of them, ``fitness`` says which go together, and
``topics/`` holds the sentence patterns, one module a topic.
"""
