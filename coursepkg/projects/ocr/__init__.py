"""Reading the lines of Vietnamese receipts and documents."""
