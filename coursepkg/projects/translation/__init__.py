"""Machine translation between Chinese or English and Vietnamese."""
