"""Find the faults of a data set's clips and plan the cleaning of training clips."""
