"""Show: pages, pictures and text made from frames and verdicts. Never measures, never decides."""
