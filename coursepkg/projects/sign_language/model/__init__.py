"""The network that names a signed word: frames to vectors, vectors over time, one vector a clip."""
