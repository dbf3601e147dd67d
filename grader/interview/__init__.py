"""Timed mock interviews. Two shells, the room and the plain commands, over one core that knows neither.

- `moments`: the clocks, and what sleep and a changed clock do to them
- `records`: an interview as it follows from its events
- `store`: the events in SQLite
- `session`: what can be done in an interview
- `opening`: begin one, find the open one
- `watching`, `running`: the candidate's file, seen from outside
- `settling`: the grades of what was handed in and of every save
- `followups`, `verdict`, `debrief`: what comes after the clock
- `room`: the room in the terminal
"""
