"""Maps and reports of embeddings, to look at."""
