"""Drawn lines and whole receipts: text, faces, ink, paper and camera."""
