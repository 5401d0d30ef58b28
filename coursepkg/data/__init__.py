"""Real and generated data: where they live, how they are fetched and checked."""
