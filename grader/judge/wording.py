"""One sentence for a failure or a lost worker: what happened, where, and what to look at next."""

from __future__ import annotations

import signal

from grader.judge.channel import WorkerLost
from grader.protocol import Failure

PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum", "baddbmm", "tensordot", "__matmul__", "__rmatmul__"})

STAGES = {
    "load": "while the file was being loaded",
    "build": "in the constructor",
    "forward": "in forward",
    "backward": "in the backward pass",
    "reply": "while its answer was being sent",
}

IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Tensor": "from torch import Tensor",
    "math": "import math",
    "np": "import numpy as np",
    "einsum": "from torch import einsum",
    "Optional": "from typing import Optional",
}
WAITED = " It was not computing: look for a sleep, or for something that never comes (a lock, a thread)."
SPUN_OR_WAITED = " Look for a loop that never ends, or for something that it waits for."


def sentence(problem: Failure | WorkerLost, file_name: str) -> str:
    """What happened, for the candidate: file and line where known, never a traceback of ours."""
    if isinstance(problem, WorkerLost):
        return _lost(problem)
    place = f"{file_name}:{problem.line}: " if problem.line else f"{file_name}: "
    return place + _what(problem)


def _what(failure: Failure) -> str:
    text = " ".join(failure.text.split())[:400]
    if failure.type == "ClassMissing":
        return _missing_from_the_file(failure, "class", "nn.Module")
    if failure.type == "NotAModule":
        return f"{failure.name} is not a subclass of nn.Module. Write `class {failure.name}(nn.Module):`."
    if failure.type == "FunctionMissing":
        return _missing_from_the_file(failure, "function", "function")
    if failure.type == "NotAFunction":
        return f"{failure.name} is no function. Write `def {failure.name}(…):`."
    stop = "" if text.endswith((".", "?", "!")) else "."
    if failure.type in ("SyntaxError", "IndentationError", "TabError"):
        return f"{failure.type}: {text}{stop}"
    if failure.type == "SystemExit":
        code = "0" if text in ("", "None") else text
        called = f"the code called sys.exit ({code}) {STAGES[failure.stage]}."
        inside = failure.stage != "load"
        return called + (" Take it out." if inside else ' Put it under `if __name__ == "__main__":`.')
    if failure.type == "EOFError":
        waits = f"EOFError: the code waits for input() {STAGES[failure.stage]}"
        return waits + ", and nobody can type here. Take it out."
    if failure.type == "BdbQuit":
        return f"a breakpoint() was left {STAGES[failure.stage]}. Take it out."
    if failure.type == "NotImplementedError" and failure.text.startswith("TODO"):
        return text if text.endswith(".") else f"{text}."
    if (
        failure.type in ("MemoryError",)
        or "can't allocate memory" in text
        or "not enough memory" in text.lower()
    ):
        return f"not enough memory {STAGES[failure.stage]}: {text or failure.type}."
    meant = (
        f" Did you mean {' or '.join(f'`{_dotted(failure, near)}`' for near in failure.near[:2])}?"
        if failure.near
        else ""
    )
    what = f": {text}{stop}" if text else "."
    if failure.type == "ModuleNotFoundError" and not failure.near:
        meant = " It is not installed where the answer is graded; do without it."
    return f"{failure.type} {STAGES[failure.stage]}{what}{meant}"


def special_words(failure: Failure) -> tuple[str, str] | None:
    """Sentence and fix where a failure shows more than its label says."""
    wanted_import = IMPORTS.get(failure.name or "") if failure.owner == "scope" else None
    if wanted_import is not None:
        return (
            f"`{failure.name}` is used here and was never imported.",
            f"Write `{wanted_import}` at the top.",
        )
    if failure.near and failure.name:
        wanted, near = (_dotted(failure, name) for name in (failure.name, failure.near[0]))
        return f"There is no `{wanted}` here; `{near}` is very like it.", f"Write `{near}`."
    if failure.name and failure.owner in ("self", "scope"):
        return _missing(failure)
    last = failure.trace[-1] if failure.trace else None
    if last is not None and last.raised and last.call in PRODUCTS and len(set(last.inputs)) == 1:
        return (
            "Two tensors of one shape meet as they are: for the scores the last two axes of the key must"
            " be swapped.",
            "Write `query @ key.transpose(-2, -1)`.",
        )
    if "dtype" in failure.text and "same" in failure.text:
        return (
            "Tensors of two dtypes meet here, so something was converted on the way and something else"
            " was not.",
            "Take the conversion out: every tensor has the dtype of x.",
        )
    return None


def _missing(failure: Failure) -> tuple[str, str]:
    """Sentence and fix for a name that nothing else is like."""
    name = failure.name
    if failure.owner == "self":
        return (
            f"You read `self.{name}`, and nothing of that name was stored on the module.",
            f"Store it in `__init__`: `self.{name} = ...`, or read the name under which it is stored.",
        )
    if failure.type == "UnboundLocalError":
        return (
            f"`{name}` has no value yet on the way that led here.",
            f"Assign `{name}` on every path before it is read.",
        )
    return (
        f"There is no `{name}` here: nothing of that name was passed in, assigned before or imported.",
        "Assign it first, write `self.` before it if it is a part of the module, or import it.",
    )


def _dotted(failure: Failure, near: str) -> str:
    if failure.owner and failure.owner.startswith("module "):
        return f"{failure.owner.removeprefix('module ')}.{near}"
    return f"self.{near}" if failure.owner == "self" else near


def _missing_from_the_file(failure: Failure, what: str, kind: str) -> str:
    found = f" It defines {', '.join(failure.classes)}." if failure.classes else f" It defines no {kind}."
    return f"there is no {what} {failure.name} in the file.{found} Name your {what} {failure.name}."


def _lost(lost: WorkerLost) -> str:
    where = STAGES[lost.stage]
    if lost.why == "spins":
        stopped = f"The code did not finish within {lost.seconds:.1f} s of processor time {where}"
        return stopped + " and was stopped. Look for a loop that never ends."
    if lost.why in ("waits", "hang"):
        stopped = f"The code did not finish within {lost.seconds:.1f} s {where} and was stopped."
        return stopped + (WAITED if lost.why == "waits" else SPUN_OR_WAITED)
    if lost.why in ("total", "crowded"):  # of the second the session makes the grader's fault
        all_calls = f"all its calls together may take {lost.seconds:.1f} s"
        return f"The time for the whole grade ran out {where}: {all_calls} (`--timeout` sets another limit)."
    if lost.why == "garbage":
        return (
            f"The code wrote something of its own into the grader's channel {where}; the grade ended there."
        )
    if lost.why == "files":
        return f"The code filled its folder with more files than it may write {where}, and was stopped."
    status = lost.status
    if status is None:
        return f"The code closed the grader's channel {where}."
    if status.signal is not None:
        return f"The code crashed the process {where}: {_signal_name(status.signal)}."
    ended = f"The code ended the process itself {where} (exit status {status.code})."
    return ended + " Take out os._exit and the like."


def _signal_name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    known = {
        "SIGKILL": "SIGKILL (killed from outside, or out of memory)",
        "SIGSEGV": "SIGSEGV (a memory fault in native code)",
        "SIGXCPU": "SIGXCPU (too much processor time)",
        "SIGABRT": "SIGABRT (aborted by native code)",
    }
    return known.get(name, name)
