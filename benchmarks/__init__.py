"""What runs inside the environment under test: the sample, the contracts and the ASV suites.

- The primitive: `sample` takes one sample and prints its record. `request` says what is asked for,
  `sandbox` isolates it, `process` supervises its processes, `siblings` and `upgrading` take samples
  of several processes, and `records` assembles the record.
- The messages: `messages` holds the job, the report and the record; `typed_json` reads and writes
  them.
- The measured process: `child` does a job and `forking` starts others; `scenarios`, `bench` and
  `sampling` build and measure with `models`, `backends` and `probes`; `environment` describes what
  is installed.
- What guards caches: `siblings` (with `forking`), `upgrading` and `sampling` look for wrong numbers
  from shared caches, and `canary` is their suite; `contracts` checks what PyTensor relies on in
  numba, and `torture` puts its caches under faults.
- asv: `compile`, `call` and `canary` are suites; `suites` is what they share.
- The rest: the tool shares `catalogue` and `plan`; `workers` calls a function in another process;
  `trace` and `parent` serve every process; `probe_cost` measures what the probes cost.

Each process imports only what it needs. Most modules import only the standard library at the top;
`models`, `bench`, `sampling` and `scenarios` import NumPy there. None imports PyTensor or numba at
the top, because asv imports every module.
"""
