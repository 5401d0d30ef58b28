"""Generated signers: drawn figures that sign Vietnamese words, as video files laid out like the contest's."""
