"""A trained model in CTranslate2, and at work there."""
