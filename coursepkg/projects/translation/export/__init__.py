"""From a trained model to CTranslate2 and back to the same interface."""
