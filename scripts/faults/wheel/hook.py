"""Start-up hook of a fault: `__init__.py` of the package in its wheel (scripts/faults/kit.py).

The wheel's .pth file makes every process of the environment import this package. The hook waits for
one module of PyTensor, and puts the fault into it when it has been executed. Nothing is imported
early, and a process that never imports the module only asks one more finder.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import fault


class Waiting:
    """A finder that finds nothing itself; it leaves when its module is imported."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec from the other finders, with a prepared loader; None for other modules."""
        if name != fault.MODULE:
            return None
        sys.meta_path.remove(cls)
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None:
            _prepare(spec.loader)
        return spec


def _prepare(loader: object) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        execute(module)
        fault.put_into(module)

    loader.exec_module = exec_module


sys.meta_path.insert(0, Waiting)
