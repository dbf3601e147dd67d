"""What honest answers do works inside: as whoever runs the tests and as an ordinary user."""

from __future__ import annotations

import pytest

from tests.confine.arena import Host
from tests.sampling import one_in

HONEST = {
    "forward and backward": """
import torch
layer = torch.nn.Linear(8, 8)
x = torch.randn(2, 3, 8, requires_grad=True)
(torch.softmax(layer(x) @ layer(x).transpose(-1, -2), -1) @ layer(x)).sum().backward()
assert x.grad is not None
""",
    "many torch threads": """
import torch
torch.set_num_threads(16)
layer = torch.nn.Linear(512, 512)
layer(torch.randn(1024, 512)).sum().backward()
""",
    "scripting a function": """
import linecache, torch
source = "def double(x, times: int):\\n    for _ in range(times):\\n        x = x + x\\n    return x\\n"
linecache.cache["<answer>"] = (len(source), None, source.splitlines(True), "<answer>")
space = {"torch": torch, "__name__": "answer"}
exec(compile(source, "<answer>", "exec"), space)
scripted = torch.jit.script(space["double"])
for _ in range(4):  # the optimiser starts at the second or third call
    assert scripted(torch.ones(2), 3)[0] == 8
""",
    "tracing a module": "import torch; x = torch.ones(1, 3); torch.jit.trace(torch.nn.Linear(3, 3), x)(x)",
    "vmap": "import torch; torch.vmap(lambda a, b: a @ b)(torch.ones(2, 3, 3), torch.ones(2, 3, 3))",
    "record_function": "import torch\nwith torch.profiler.record_function('attention'): torch.ones(2) + 1",
    "the profiler": """
import torch
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
    torch.ones(64, 64) @ torch.ones(64, 64)
assert seen.key_averages()
""",
    "anomaly detection": """
import torch
torch.autograd.set_detect_anomaly(True)
torch.ones(3, requires_grad=True).sum().backward()
""",
    "checkpointing": """
import torch
from torch.utils.checkpoint import checkpoint
checkpoint(torch.nn.Linear(3, 3), torch.ones(1, 3, requires_grad=True), use_reentrant=False).sum().backward()
""",
    "deterministic algorithms": "import torch; torch.use_deterministic_algorithms(True); torch.ones(3) + 1",
    "submodules of torch": "import torch.optim, torch.utils.data, torch.fx, torch.func, torch.nn.attention",
    "training a little": """
import torch
layer = torch.nn.Linear(3, 3)
adam = torch.optim.AdamW(layer.parameters())
layer(torch.ones(1, 3)).sum().backward()
adam.step()
""",
    "asking for devices": "import torch; torch.cuda.is_available(), torch.backends.mps.is_available()",
    "saving and loading in the scratch folder": """
import torch
torch.save(torch.nn.Linear(3, 3).state_dict(), "weights.pt")
torch.load("weights.pt")
""",
    "numpy": "import numpy; numpy.random.default_rng(0).normal(size=(64, 64)) @ numpy.ones((64, 64))",
    "packages that torch brings": "import sympy, jinja2, networkx, typing_extensions",
    "the standard library": "import unittest, dataclasses, timeit, csv, xml.dom, decimal, zoneinfo, ssl",
    "unit tests": """
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 1)
assert unittest.TextTestRunner(stream=open(os.devnull, 'w')).run(T('test')).wasSuccessful()
""",
    "timeit": "import timeit; timeit.timeit('1 + 1', number=10)",
    "time zones": "import datetime, zoneinfo; datetime.datetime.now(zoneinfo.ZoneInfo('Europe/Berlin'))",
    "chance": "import random, secrets, uuid; random.random(), secrets.token_hex(), uuid.uuid4()",
    "hashes": "import hashlib; hashlib.sha256(b'x'), hashlib.md5(b'x'), hashlib.blake2b(b'x')",
    "threads": """
import threading
done = []
threads = [threading.Thread(target=done.append, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(done) == 8
""",
    "a pool of threads": """
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor(4) as pool: assert list(pool.map(abs, [-1, 2])) == [1, 2]
""",
    "importing multiprocessing": "import multiprocessing, asyncio, subprocess, queue, concurrent.futures",
    "temporary files": """
import tempfile, shutil
tempfile.tempdir = SCRATCH
with tempfile.TemporaryFile() as f: f.write(b'x')
with tempfile.NamedTemporaryFile() as f: f.write(b'x')
with tempfile.TemporaryDirectory() as d:
    open(d + '/f', 'w').close()
    os.mkdir(d + '/g')
    os.rename(d + '/f', d + '/g/h')
folder = tempfile.mkdtemp(); open(folder + '/f', 'w').close(); shutil.rmtree(folder)
""",
    "copying and reading files": """
import pathlib, shutil
pathlib.Path('a').write_text('x'); shutil.copyfile('a', 'b'); assert pathlib.Path('b').read_text() == 'x'
assert os.listdir('.'); os.remove('a'); pathlib.Path('b').unlink()
""",
    "throwing output away": "print('x', file=open(os.devnull, 'w'))",
    "reading standard input": "assert open(0, closefd=False).read() == ''",
    "an alarm of its own": """
caught = []
signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001)
while not caught: pass
""",
    "signalling its own thread": """
import threading
caught = []
signal.signal(signal.SIGUSR1, lambda *_: caught.append(1))
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
assert caught
""",
    "asking about the machine": """
import platform, resource
platform.uname(), os.cpu_count(), resource.getrusage(0), resource.getrlimit(resource.RLIMIT_AS)
""",
    "calling C": "import ctypes; assert ctypes.CDLL(None).abs(-3) == 3",
    "a callback from C": """
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0)
ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)
""",
    "a memory map": "import mmap; mmap.mmap(-1, 4096).close()",
    "looking for a module that is not there": """
try: import no_such_module_here
except ModuleNotFoundError: pass
else: raise AssertionError
""",
    "a traceback": """
import traceback
try: 1 / 0
except ZeroDivisionError: assert 'snippet' in traceback.format_exc()
""",
}


@pytest.mark.parametrize("what", one_in(5, HONEST))
def test_works(host: Host, what: str, importing_user: str) -> None:
    answer = host.run(HONEST[what], "strict", importing_user)
    assert answer["outcome"] == "ok", answer["text"]
    assert answer["status"] == 0
    assert answer["missing"] == []


def test_torch_dynamo_can_be_imported(host: Host, importing_user: str) -> None:
    assert host.run("import torch._dynamo", "strict", importing_user)["outcome"] == "ok"


def test_compiling_with_a_backend_that_needs_no_compiler_works(host: Host) -> None:
    code = "import torch; assert torch.compile(lambda x: x + 1, backend='eager')(torch.ones(1)) == 2"
    assert host.run(code)["outcome"] == "ok"


@pytest.mark.slow
def test_compiling_with_a_compiler_says_that_it_is_not_permitted(host: Host) -> None:
    """Inductor starts a C++ compiler. The candidate sees a sentence with the reason, not a dead worker."""
    answer = host.run("import torch; torch.compile(lambda x: x.sin() + 1)(torch.ones(64))")
    assert answer["outcome"] == "error", answer
    assert "ermi" in answer["text"], answer


def test_crashes_are_told_apart_by_their_signal(host: Host) -> None:
    assert host.run("os.abort()")["status"] == -6
    assert host.run("ctypes.string_at(0)")["status"] == -11
