"""Practice that remembers: what is known of each kata and concept, what to practise next, how it went so far.

- `sittings`: the history as sittings, each rated from its first submission
- `schedule`: the sittings replayed through FSRS: how well each kata and concept is remembered
- `advice`: what to practise now, and why
- `stats`: honest numbers, without streaks
- `sections`: those numbers as a report
- `transfer`: the whole history as one JSON document, out and in
"""
