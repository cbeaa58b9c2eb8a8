"""What is done before graphfold is published: ``python -m release``."""
