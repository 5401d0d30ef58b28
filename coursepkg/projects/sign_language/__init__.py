"""Recognising a signed word in a short video clip."""
