"""Record: results written so that nothing is lost, and read so that nothing broken is hidden."""
