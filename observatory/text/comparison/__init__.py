"""What a comparison says, in words: ``story.tell`` makes a document that the renderers draw."""
