"""Comparisons in words: ``story.tell`` makes a document that the renderers draw."""
