"""Every forbidden operation is refused inside, and would have worked outside."""

from __future__ import annotations

import errno

import pytest

from tests.confine.arena import CANARY, Host

# Where the folder may not be listed any more, the import system finds nothing there instead of being refused.
HIDDEN_IMPORT = """
try:
    import grader.catalog
except ModuleNotFoundError as error:
    raise PermissionError(13, "not to be found") from error
"""
REFUSALS = {errno.EPERM, errno.EACCES}

# (what, code). Each raises OSError inside and works unconfined, for root at least.
FILES = {
    "reading the home": "open(HOME + '/canary').read()",
    "listing the home": "os.listdir(HOME)",
    "reading the password file": "open('/etc/passwd').read()",
    "reading the checkout": "open(CHECKOUT + '/pyproject.toml').read()",
    "reading the katas": "open(CHECKOUT + '/katas/v3/kata.toml').read()",
    "reading the grader's own code": "open(CHECKOUT + '/grader/errors.py').read()",
    "importing more of the grader": HIDDEN_IMPORT,
    "reading another worker's scratch folder": "open(OTHER + '/canary').read()",
    "listing all scratch folders": "os.listdir(os.path.dirname(SCRATCH))",
    "writing outside": "open(OUTSIDE + '/new', 'w')",
    "writing to a well-known place": "name = '/tmp/kata-test'; open(name, 'w').close(); os.unlink(name)",
    "writing to shared memory": "name = '/dev/shm/kata-test'; open(name, 'w').close(); os.unlink(name)",
    "writing to another worker's scratch folder": "open(OTHER + '/new', 'w')",
    "appending outside": "open(OUTSIDE + '/canary', 'a')",
    "truncating outside": "os.truncate(OUTSIDE + '/canary', 11)",
    "truncating what is open for reading": "open('f', 'w').close(); os.open('f', os.O_RDONLY | os.O_TRUNC)",
    "making a folder outside": "os.mkdir(OUTSIDE + '/folder'); os.rmdir(OUTSIDE + '/folder')",
    "removing outside": "a, b = OUTSIDE + '/canary', OUTSIDE + '/c'; os.rename(a, b); os.rename(b, a)",
    "moving a file out": "open('f', 'w').close(); os.rename('f', OUTSIDE + '/moved')",
    "linking a file in": "os.link(OUTSIDE + '/canary', SCRATCH + '/linked')",
    "making a symbolic link": "os.symlink('/etc/passwd', SCRATCH + '/link')",
    "making a pipe with a name": "os.mkfifo(SCRATCH + '/pipe')",
    "making a socket with a name": "os.mknod(SCRATCH + '/socket', 0o140600)",
    "changing modes outside": "os.chmod(OUTSIDE + '/canary', 0o666)",
    "changing modes in the scratch folder": "open('f', 'w').close(); os.chmod('f', 0o777)",
    "changing modes of an open file": "f = open('f', 'w'); os.fchmod(f.fileno(), 0o777)",
    "changing owners": "os.chown(OUTSIDE + '/canary', -1, os.getgid())",
    "changing times": "os.utime(OUTSIDE + '/canary')",
    "setting an extended attribute": "os.setxattr(OUTSIDE + '/canary', 'user.kata', b'1')",
    "reading an extended attribute": "os.listxattr(OUTSIDE + '/canary')",
    "mounting": "raw(165, 40, b'x', os.fsencode(SCRATCH), b'tmpfs', 0, None)",
    "changing the root": "os.chroot(SCRATCH)",
    "making a file in memory": "os.memfd_create('m')",
    "watching files": "raw(294, 26, 0)",
    "naming a file by handle": "raw(303, 264, 3, b'x', struct.pack('=Ii', 0, 0) + bytes(128), bytes(8), 0)",
}
PROCESSES = {
    "forking": "os.fork() or os._exit(0)",
    "starting a program": "import subprocess; subprocess.run(['/bin/true'], check=True)",
    "spawning a program": "os.posix_spawn('/bin/true', ['true'], {})",
    "becoming a program": "os.execv('/bin/true', ['true'])",
    "cloning a process": "raw(56, 220, 17, 0, 0, 0, 0) or os._exit(0)",
    "cloning into a namespace": "raw(56, 220, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0)",
    "a process by multiprocessing": "import multiprocessing as m; m.get_context('fork').Process().start()",
    "signalling another process": "os.kill(VICTIM, 0)",
    "signalling the parent": "os.kill(HOST, 0)",
    "signalling the group": "os.killpg(os.getpgrp(), 0)",
    "signalling a thread of another process": "raw(234, 131, VICTIM, VICTIM, 0)",
    "queueing a signal": "raw(129, 138, VICTIM, 18, struct.pack('=iii', 18, 0, -1) + bytes(116))",
    "a descriptor of another process": "os.pidfd_open(VICTIM)",
    "signals from a file to another process": "import fcntl; fcntl.fcntl(open('f', 'w'), 8, VICTIM)",
    "choosing the signal of a file": "import fcntl; fcntl.fcntl(open('f', 'w'), 10, signal.SIGKILL)",
    "tracing another process": "raw(101, 117, 0x4206, VICTIM, 0, 0)",
    "tracing by attaching": "raw(101, 117, 0x4206, HOST, 0, 0)",
    "reading another process's memory": "raw(310, 270, VICTIM, bytes(16), 0, bytes(16), 0, 0)",
    "writing another process's memory": "raw(311, 271, VICTIM, bytes(16), 0, bytes(16), 0, 0)",
    "another process's memory as a file": "open(f'/proc/{VICTIM}/mem', 'rb')",
    "the parent's environment": "open(f'/proc/{HOST}/environ', 'rb').read()",
    "the parent's command line": "open(f'/proc/{HOST}/cmdline', 'rb').read()",
    "the parent's memory map": "open(f'/proc/{HOST}/maps', 'rb').read()",
    "the parent's working folder": "os.readlink(f'/proc/{HOST}/cwd')",
    "the parent's open files": "os.readlink(f'/proc/{HOST}/fd/0')",
    "the environment it was started with": "open('/proc/self/environ', 'rb').read()",
    "listing processes": "os.listdir('/proc')",
    "outliving its parent": "raw(157, 167, 1, 0, 0, 0, 0)",
    "changing the priority": "os.nice(1)",
    "changing the priority of others": "os.setpriority(os.PRIO_PROCESS, VICTIM, 1)",
    "pinning another process": "os.sched_setaffinity(VICTIM, os.sched_getaffinity(VICTIM))",
    "changing limits": "raw(302, 261, 0, 4, struct.pack('=QQ', 0, 0), None)",
    "changing limits of others": "import resource; resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))",
    "changing the user": "os.setuid(os.getuid())",
    "changing the group": "os.setgroups(os.getgroups())",
    "a new session": "os.fork() or (os.setsid(), os._exit(0))",
}
NETWORK = {
    "TCP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "IPv6": "raw(41, 198, socket.AF_INET6, socket.SOCK_DGRAM, 0)",
    "Unix sockets": "socket.socket(socket.AF_UNIX)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "pairs of sockets": "socket.socketpair()",
}
KERNEL = {
    "typing into a terminal": "import fcntl; fcntl.ioctl(1, 0x5412, b'x')",
    "asynchronous files": "import fcntl; fcntl.ioctl(os.pipe()[0], 0x5452, struct.pack('i', 1))",
    "io_uring": "raw(425, 425, 1, bytes(120))",
    "a namespace": "raw(272, 97, 0x10000000)",
    "another's namespace": "raw(308, 268, 0, 0)",
    "BPF": "raw(321, 280, 0, bytes(64), 64)",
    "keys of the user": "raw(250, 219, 0, -3, 0)",
    "user page faults": "raw(323, 282, 1)",
    "performance counters": "raw(298, 241, bytes(112), 0, -1, -1, 0)",
    "another Landlock domain": "raw(444, 444, None, 0, 1)",
    "another filter": "raw(317, 277, 2, 0, struct.pack('=I', 0))",
    "a personality": "raw(135, 92, 0xFFFFFFFF)",
    "System V shared memory": "raw(29, 194, 0x4B415441, 4096, 0o1600)",
    "a message queue": "raw(240, 180, b'kata', os.O_RDWR | os.O_CREAT, 0o600, None); raw(241, 181, b'kata')",
    "setting the clock": "raw(227, 112, 99, bytes(16))",
    "the host's name": "socket.sethostname(socket.gethostname())",
    "the kernel's log": "raw(103, 116, 10, None, 0)",
    "rebooting": "raw(169, 142, 0, 0, 0, None)",
    "moving memory of others": "raw(279, 239, VICTIM, 0, None, None, None, 0)",
    "locking memory": "raw(149, 228, 0, 0)",
}
ALL = FILES | PROCESSES | NETWORK | KERNEL


@pytest.mark.parametrize("what", ALL)
def test_is_refused(host: Host, what: str, user: str) -> None:
    answer = host.run(ALL[what], "strict", user)
    assert answer["outcome"] == "error", answer
    assert answer["errno"] in REFUSALS, answer
    assert CANARY not in answer["text"]


# These need what a test machine may not have (privileges, kernel options) or would do harm.
NOT_OUTSIDE = {
    "typing into a terminal",
    "another's namespace",
    "io_uring",
    "BPF",
    "user page faults",
    "performance counters",
    "setting the clock",
    "rebooting",
    "mounting",
    "keys of the user",
    "moving memory of others",
    "the kernel's log",
    "naming a file by handle",
    "a namespace",
    "a message queue",
    "System V shared memory",
    "changing the root",
    "changing the group",
    "tracing by attaching",
    "tracing another process",
    "the host's name",
    "setting an extended attribute",
    "another filter",
    "another Landlock domain",
    "choosing the signal of a file",
    "becoming a program",
}


@pytest.mark.parametrize("what", [what for what in ALL if what not in NOT_OUTSIDE])
def test_would_have_worked_outside(host: Host, what: str) -> None:
    answer = host.run(ALL[what], "none")
    assert answer["outcome"] == "ok", answer


def test_calls_of_other_architectures_are_refused(host: Host) -> None:
    x32_getpid = host.run("raw(0x40000000 | 39, 5000)")
    assert x32_getpid["errno"] == errno.ENOSYS


def test_calls_newer_than_the_table_do_not_exist(host: Host) -> None:
    assert host.run("raw(syscalls.LAST_KNOWN + 1, syscalls.LAST_KNOWN + 1)")["errno"] == errno.ENOSYS


def test_a_socket_that_is_open_already_goes_nowhere_else(host: Host) -> None:
    """The channel may be a socket; with it, a datagram to another address would leave."""
    answer = host.run("os.open('/dev/null', 0); raw(44, 206, 1, b'x', 1, 0, bytes(16), 16)")
    assert answer["errno"] == errno.EPERM
