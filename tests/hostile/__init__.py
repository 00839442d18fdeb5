"""Whatever strangers can give the observatory: where it is read, and what they could give."""
