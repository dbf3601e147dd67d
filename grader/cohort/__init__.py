"""Whole cohorts: many files, graded several at a time, resumed where they were left, and shown as one page.

- `gather`: what the paths on a command line hold
- `run`: grade it, as it comes; `cluster`: on a Dask cluster
- `store`: what is done already
- `tables`: CSV, JUnit XML, Gradescope; `overview`: the page; `likeness`: answers that are nearly the same
"""
