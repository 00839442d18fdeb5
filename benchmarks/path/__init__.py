"""The path of a user of PyMC, from a model to draws: one step after another, each counted alone.

`steps` has the steps, `walk` what each of them is measured with, `chains` the ledgers of the
processes of `pm.sample`, and `loading` the process that loads a pickled function.
"""
