"""Keys of Ops in the numba cache hold the names that their inputs have in the generated code.

Stands for a key that is made from generated source. A graph that is built again has the same
names, so that it hits; another graph shares next to nothing with it, nor does it with itself.
"""

from types import ModuleType

MODULE = "pytensor.link.numba.dispatch.basic"


def put_into(module: ModuleType) -> None:
    """Add the names of a node's inputs to its key."""
    from functools import wraps
    from hashlib import sha256

    funcify = module.numba_funcify_and_cache_key

    @wraps(funcify)  # with what else the dispatcher has, as `register`
    def numba_funcify_and_cache_key(op: object, *args: object, **kwargs: object) -> tuple:
        function, key = funcify(op, *args, **kwargs)
        node, name_of = kwargs.get("node"), kwargs.get("unique_name")
        if key is not None and node is not None and name_of is not None:
            names = [name_of(variable) for variable in node.inputs]
            key = sha256(f"{key} {names}".encode()).hexdigest()
        return function, key

    module.numba_funcify_and_cache_key = numba_funcify_and_cache_key
