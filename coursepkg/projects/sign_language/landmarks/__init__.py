"""Landmarks of body and hands in films: MediaPipe's networks, and the way there."""
