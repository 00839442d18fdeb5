"""The steps of the path, for the models that take it and for whoever shows it."""

PATH_STEPS = {
    "initial_point": "the point at which samplers start",
    "compile_logp": "`pm.compile` of the log density",
    "compile_gradient": "the log density and its gradient, as NUTS compiles them",
    "rebuild": "the same from a model that the same source builds again, in one process",
    "new_data": "the same with other data of the same shape",
    "new_shape": "the same with more data",
    "load_pickle": "another process loads a pickled compiled function",
    "sample": "`pm.sample` of one chain in this process",
    "sample_again": "a second `pm.sample` of the same model in one process",
    "chains_fork": "`pm.sample` of two chains in forked processes",
    "chains_spawn": "`pm.sample` of two chains in fresh processes",
    "chains_forkserver": "`pm.sample` of two chains in processes of a fork server",
    "predict": "`pm.sample_posterior_predictive`",
    "predict_again": "a second `pm.sample_posterior_predictive` in one process",
    "smc": "`pm.sample_smc` of one chain",
    "advi": "`pm.fit` with ADVI, and draws from what it found",
    "nutpie": "`pm.sample` with nutpie",
}
"""The steps of the path of a user of PyMC, in the order in which a sample takes them."""
