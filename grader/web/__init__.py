"""The practice page: a local server that shows in a browser what the commands show in a terminal.

A shell over the same functions as the command line, with no logic of its own.

- `gate`: who may speak to the server: host, origin, cookie, token, size; the headers of every answer
- `desk`: what the pages work with, in one thread that owns the history
- `gradings`: grades under way, and what is told of them while they run
- `pages`, `deeds`: what a page shows; what it does
- `interviews`, `settle`: the interview's pages and deeds; its grades in the background
- `views`: the templates, and what all pages have in common
- `app`: which address is what
- `server`: the socket, the address to open, the end
"""
