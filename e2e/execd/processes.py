# SPDX-License-Identifier: Apache-2.0
"""Processes that cases look at, and the FIFO by which they make a command wait for them."""
import os
import signal

from daemon import until


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def kill_all(execd):
    """Ends what cases left running below execd."""
    for pid in children(execd.process.pid):
        try:
            os.kill(-pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not children(execd.process.pid), 10, "nothing is left below execd")


def make_fifo(execd, *names):
    """Makes FIFOs in the daemon's folder, which it returns; each serves one handshake at a time."""
    for name in names or ("fifo",):
        if not os.path.exists(execd.path(name)):
            os.mkfifo(execd.path(name))
    return execd.folder
