"""What fleets, object stores and branches bear: kills, many workers, many nights."""
