"""The host side of the observatory: it schedules, records, decides and composes."""
