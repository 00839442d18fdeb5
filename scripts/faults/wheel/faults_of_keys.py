"""The faults of single keys: one property of one Op, or the broadcast pattern of Elemwise.

The third file of faults. Two different graphs get one key, so that one of them returns the values
of the other, or raises. Nothing misses, and radon has no such pair of graphs. One fault makes keys
that are right and cost more.
"""

from copy import copy
from types import ModuleType

from .faults import DISPATCH, PutInto, change_op_keys, fault_of

_NEUTRAL = (None, False, 0, (), "")
"""What stands for every value of the dropped property: the first that PyTensor takes."""


def property_dropped(of: str) -> tuple[str, PutInto]:
    """The fault for ``of``, e.g. "CAReduce.axis": the module, and what to do with it.

    Stands for a new property that its author forgot to put into the key.
    """
    op_name, _, name = of.partition(".")

    def concerned(op: object) -> bool:
        named = any(one.__name__ == op_name for one in type(op).__mro__)
        return named and name in (getattr(op, "__props__", None) or ())

    def put_into(module: ModuleType) -> None:
        # Random variables and Blockwise ask for the key of the Op inside them.
        hashed = module.default_hash_key_from_props

        def default_hash_key_from_props(op: object, **more: object) -> str:
            return hashed(_with(op, name, None) if concerned(op) else op, **more)

        module.default_hash_key_from_props = default_hash_key_from_props
        funcify = module.numba_funcify_and_cache_key

        def changed(key: str, op: object, options: dict[str, object]) -> str:
            if not concerned(op):
                return key
            for value in _NEUTRAL:
                try:
                    return funcify(_with(op, name, value), **options)[1] or key
                except Exception:  # noqa: S112 - whatever the Op makes of such a value
                    continue
            return key

        change_op_keys(module, changed)

    return DISPATCH, put_into


@fault_of(DISPATCH)
def broadcast_pattern_dropped(module: ModuleType) -> None:
    """The key of Elemwise does not say which dimensions are broadcast.

    Tried on a branch of PyTensor: nothing misses and radon's values are right, while a second
    process that shares the cache may raise an exception.
    """
    funcify = module.numba_funcify_and_cache_key

    def changed(key: str, op: object, options: dict[str, object]) -> str:
        if type(op).__name__ != "Elemwise":
            return key
        node = options["node"]
        unknown = [x.type.clone(shape=(None,) * x.type.ndim)() for x in node.inputs]
        return funcify(op, **{**options, "node": op.make_node(*unknown)})[1] or key

    change_op_keys(module, changed)


@fault_of(DISPATCH)
def keys_made_twice(module: ModuleType) -> None:
    """The key of each Op is made twice, and the first one is thrown away.

    Stands for a key that is made where it is looked up and again where it is stored.
    """
    made = module.default_hash_key_from_props

    def default_hash_key_from_props(op: object, **more: object) -> str:
        made(op, **more)
        return made(op, **more)

    module.default_hash_key_from_props = default_hash_key_from_props


def _with(op: object, name: str, value: object) -> object:
    changed = copy(op)
    setattr(changed, name, value)
    return changed
