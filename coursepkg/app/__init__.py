"""What the three systems share: verbs, options, recipes, runs, ladders, results.

Nothing here knows a project. A project brings its data, its model and its words.
"""
