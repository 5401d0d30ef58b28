"""Lines and whole receipts that are drawn, not photographed: text, faces, ink, paper and camera."""
