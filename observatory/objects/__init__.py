"""Results in an object store: S3, another cloud, or a directory, by the addresses of fsspec."""
