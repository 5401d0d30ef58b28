"""Signs in streams: by sliding windows, by raised hands, in front of a camera."""
