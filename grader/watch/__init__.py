"""Grading on every save, a newer save ending the grade of an older one.

- `saves`: when the file at a path was saved, also where the system does not tell
- `rounds`: the loop: saves and keys in, `Round` records out
"""
