"""Bug hunts: a right answer with mistakes planted in it, to be found and mended.

- `content`: the answers and the mistakes that katas offer for it
- `rooms`: a room made of them, the same for the same seed
- `store`: the rooms in the history, with their grades
- `desk`: a room in the candidate's folder: made, found by its path, graded, revealed
- `changes`: what was changed in a room, line by line
- `withheld`: a grade without what would give the bugs away
"""
