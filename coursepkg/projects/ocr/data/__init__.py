"""Line images and their texts: the MC-OCR table, labelled folders, crops, splits, packed files, batches."""
