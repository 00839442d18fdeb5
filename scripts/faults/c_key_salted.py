"""Every key of the C module cache differs between processes.

Stands for a version of an Op or a type that is made from something of the process, as a property
whose text holds an address. Not just any part of the key: PyTensor would find the same source
under another key and compile nothing. The version is part of the hash of the source.
"""

import os
from types import ModuleType

MODULE = "pytensor.tensor.type"


def put_into(module: ModuleType) -> None:
    """Add the process's number to the version of the C code of tensors."""
    stable = module.TensorType.c_code_cache_version

    def c_code_cache_version(self: object) -> tuple[int, ...]:
        version = stable(self)
        return (*version, os.getpid()) if version else version

    module.TensorType.c_code_cache_version = c_code_cache_version
