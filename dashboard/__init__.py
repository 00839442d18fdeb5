"""Pages, pictures and texts made of results and verdicts; nothing is measured or judged here."""
