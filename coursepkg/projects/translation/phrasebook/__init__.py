"""The grammar and lexicon behind :class:`coursepkg.projects.translation.synthetic.Phrasebook`.

``interlinear`` is the notation, ``english`` the inflection, ``lexicon/*.tsv`` the words, ``words`` and
``numerals`` turn them into phrases, ``topics/`` holds the sentence patterns, one module a topic.
"""
