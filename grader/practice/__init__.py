"""What a candidate can do, as functions: each takes what it needs and returns records. Nothing here prints.

- `targets`: which file is meant, and which kata it answers
- `work`: that file as an editor of ours sees and saves it
- `attempts`: grade a file, keep the attempt, recall it
- `clock`: the time that an attempt took, without pauses
- `reports`: a graded attempt as a document
- `overview`: where the candidate stands
- `hints`, `questions`, `solutions`, `explain`: what a kata has to say
- `demo`: the tour
- `isolation`: what this machine cannot keep an answer from
"""
