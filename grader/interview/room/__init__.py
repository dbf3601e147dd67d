"""The room in the terminal: a thin shell over `grader.interview.session`, made with Textual.

- `app`: the clock's ticks, the watched file, what happens in the background
- `writing`: the screen while the clock runs
- `asking`: the follow-up questions
- `debriefing`: the debrief
- `windows`: small windows over a screen
"""
