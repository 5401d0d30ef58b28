"""The ablation ladder: named rows, each one change, each with its stored result."""
