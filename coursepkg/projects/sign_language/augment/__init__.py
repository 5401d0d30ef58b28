"""Changes of training clips that leave their word as it is: in time, in the pictures, and between two clips."""
