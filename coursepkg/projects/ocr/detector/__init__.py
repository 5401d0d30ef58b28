"""Finding the text of a photograph: boxes from a detector, merged into lines in reading order."""
