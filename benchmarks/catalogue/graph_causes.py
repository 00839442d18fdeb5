"""The causes that show in a model of many graphs: each is found by the metric that it names."""

from __future__ import annotations

from .cause import COSTS, Cause

GRAPH_CAUSES = (
    Cause(
        "keys are missing",
        "{they} {have} functions that {head} gives no key, so that no cache stores them",
        """Look at the function that makes the keys of these Ops, and at the Ops inside them. It
        returns no key (None) for an Op that holds another one without a key.""",
        shows_in=("keys_missing",),
        explains=("keys_missing",),
        found_by="keys_missing",
        noun="pair",
    ),
    Cause(
        "keys cost more",
        "{head} calls more Python functions to make the keys of {they}",
        """Look at what makes the keys: `default_hash_key_from_props` and `cache_key_for_constant`
        in `pytensor.link.numba.dispatch.basic`, and the `__props__` and pickling of these Ops.""",
        shows_in=("key_calls",),
        explains=("key_calls",),
        found_by="key_calls",
        noun="graph",
    ),
    Cause(
        "compiled again in use",
        "{head} compiles more functions when {they} {are} used further",
        """The name says what the further use is: a new value of a shared variable, or a second
        function with an equal inner graph. Look at what the key of the function contains besides
        the graph.""",
        shows_in=("compiled_again",),
        explains=("compiled_again",),
        found_by="compiled_again",
        noun="graph",
        title="functions are compiled again in use",
    ),
    Cause(
        "branches are evaluated",
        "{head} evaluates branches of {they} that it need not evaluate",
        "Look at how the backend converts `IfElse`, and at rewrites that move Ops out of a branch.",
        shows_in=("branch_evaluations",),
        explains=("branch_evaluations",),
        found_by="branch_evaluations",
        noun="graph",
    ),
    Cause(
        "Blockwise is left",
        "the rewrites of {head} leave more Blockwise nodes in {they}",
        """Look for a rewrite that no longer applies: one that removes a useless Blockwise, or that
        replaces one by an Op with batch dimensions of its own.""",
        shows_in=("blockwise_nodes",),
        explains=("blockwise_nodes",),
        found_by="blockwise_nodes",
        noun="graph",
        title="Blockwise nodes are left",
    ),
    Cause(
        "loops store more",
        "the loops of {they} store more steps with {head}",
        "Look at `scan_save_mem` and what it asks of the clients of a Scan.",
        shows_in=("stored_steps",),
        explains=("stored_steps",),
        found_by="stored_steps",
        noun="graph",
    ),
    Cause(
        "graphs have more nodes",
        "the rewrites of {head} leave more nodes in {they}",
        """Compare the compiled graphs with `pytensor.dprint`. The usual reason is a rewrite that no
        longer applies.""",
        shows_in=("graph_nodes",),
        explains=("graph_nodes",),
        found_by="graph_nodes",
        noun="graph",
    ),
    Cause(
        "freezing costs more",
        "{head} calls more Python functions to freeze, hash or compare {they}",
        """Look at `FrozenFunctionGraph` and `FrozenApply` in `pytensor.graph`, and at `__eq__` and
        `__hash__` of the Ops in the graphs.""",
        shows_in=("frozen_calls",),
        explains=("frozen_calls",),
        found_by="frozen_calls",
        noun="graph",
    ),
    Cause(
        "frozen nodes are kept",
        "{head} keeps more frozen nodes of {they} in memory",
        """Look at `FrozenApply._cache`: equal nodes must be one, and nothing may refer to them when
        the graphs are gone.""",
        shows_in=("frozen_kept",),
        explains=("frozen_kept",),
        found_by="frozen_kept",
        noun="graph",
    ),
    Cause(
        "work rises at once",
        "with {head}, {they} {have} a size at which the work of a build jumps",
        """Profile the two sizes on both sides of the step: `python -m benchmarks.sample` takes the
        graph with `--graph`. Usual reasons are a limit of NumPy or numba on the number of
        arguments, or another way to compile from some size on.""",
        shows_in=("work_cliffs",),
        explains=("work_cliffs", "sizes_past_cliff", "work_exponent", *COSTS),
        found_by="work_cliffs",
        noun="family",
        title="work jumps at a size",
    ),
    Cause(
        "work rises earlier",
        "with {head}, the work of {they} jumps at a smaller size than before",
        """Profile the two sizes on both sides of the step, and look for the limit that it follows
        from: what counts towards it may have grown, or the limit may be lower.""",
        shows_in=("sizes_past_cliff",),
        explains=("sizes_past_cliff", "work_exponent", *COSTS),
        found_by="sizes_past_cliff",
        noun="family",
        title="work jumps at a smaller size",
        a_consequence=True,
    ),
    Cause(
        "work grows faster",
        "the work of {they} grows with a higher power of the size with {head}",
        """Profile the largest size with `observatory profile`: look for something that is done for
        all nodes once for each node, such as a copy, a search or a sort of the whole graph.""",
        shows_in=("work_exponent",),
        explains=("work_exponent", *COSTS),
        found_by="work_exponent",
        noun="family",
    ),
    Cause(
        "equal layers are compiled apart",
        "{they} of equal layers {have} functions that {head} compiles again for each layer",
        """Compare the inner graphs of two layers: their hash and their equality must not depend
        on the names of variables or on when a layer was made.""",
        shows_in=("functions_added",),
        explains=("functions_added", *COSTS),
        found_by="functions_added",
        noun="chain",
        title="equal layers are compiled separately",
    ),
)
"""Their records, in the order of the catalogue."""
