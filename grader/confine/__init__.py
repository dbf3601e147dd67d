"""Confinement: what a worker does to itself right before it meets the candidate's file.

A room below the worker. It imports neither torch nor anything of the grader but `errors` and `records`,
so that nothing of the judge comes into an untrusted process with it. The ways in:

- `probe.probe()`: what this machine offers, for `kata doctor`;
- `policy.worker_policy(...)`: what a worker may read, write and use up;
- `apply.prepare(policy)`: the costly part, once per host process;
- `apply.confine(prepared, ...)`: in each freshly forked worker, after torch, before the candidate's bytes;
- `process.harden_judge()`, `process.adopt_orphans()`, `process.sweep()`: for the trusted side.
"""
