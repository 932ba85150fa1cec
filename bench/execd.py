# SPDX-License-Identifier: Apache-2.0
"""execd by itself on loopback: execd.py PROGRAM. Rows 7, 8 and 9 of the table of targets."""
import os
import re
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e", "execd"), os.path.join(HERE, "..", "e2e", "lib")]

import release  # noqa: E402  the path comes first
from daemon import TOKEN, TOKEN_HEADER, Daemon  # noqa: E402
from figure import Samples, figure  # noqa: E402

STARTS = 100
COMMANDS = 2000
WARM_UP = 50
LISTENING_TARGET_MS = 1.5
FIRST_BYTE_P50_TARGET_MS = 1
FIRST_BYTE_P99_TARGET_MS = 3
WHOLE_P50_TARGET_MS = 3
KB = 1000
KIB_IN_MB = 1000 * KB / 1024
END_OF_BODY = b"0\r\n\r\n"


def exec_to_listening(program):
    """Milliseconds until a connection is accepted, the program's start by this process included."""
    env = dict(os.environ, EXECD_ACCESS_TOKEN=TOKEN)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begin = time.monotonic()
    process = subprocess.Popen([program, "--address", "127.0.0.1", "--port", str(port)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=env)
    try:
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return (time.monotonic() - begin) * 1000
            if process.poll() is not None:
                raise SystemExit("execd ended")
    finally:
        process.terminate()
        process.wait()


def bare_start():
    """The same for a program that does nothing: what starting a process costs here."""
    begin = time.monotonic()
    subprocess.Popen(["/bin/true"], stdin=subprocess.DEVNULL).wait()
    return (time.monotonic() - begin) * 1000


def one_command(connection, request):
    """Milliseconds from the request to the first byte of the head, of output, to the end of the stream."""
    begin = time.monotonic()
    connection.sendall(request)
    received, byte, output = b"", None, None
    while not received.endswith(END_OF_BODY):
        received += connection.recv(65536)
        now = time.monotonic()
        if byte is None and re.search(rb'"type":', received):
            byte = now
        if output is None and b'"text":"hi"' in received:
            output = now
    return [(at - begin) * 1000 for at in (byte, output, time.monotonic())]


def commands(port, body):
    request = (f"POST /command HTTP/1.1\r\nHost: x\r\n{TOKEN_HEADER}: {TOKEN}\r\n"
               f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(WARM_UP):
            one_command(connection, request)
        return [Samples(column) for column in zip(*(one_command(connection, request)
                                                    for _ in range(COMMANDS)))]


def row_7(execd):
    figure("execd_size", os.path.getsize(execd.process.args[0]) / 1e6, "MB", release.SIZE_MAX / 1e6)
    figure("execd_idle_rss", execd.rss_kib() / KIB_IN_MB, "MB", release.IDLE_RSS_MAX_KIB / 1000)


def row_8(program):
    exec_to_listening(program)
    ours = Samples(exec_to_listening(program) for _ in range(STARTS))
    bare = Samples(bare_start() for _ in range(STARTS))
    figure("execd_exec_to_listening_p50", ours.percentile(50), "ms", LISTENING_TARGET_MS,
           ("start_and_end_of_true", bare.percentile(50)), ours.spread())


def row_9(execd):
    first, output, whole = commands(execd.port, b'{"command":"echo hi"}')
    figure("command_first_byte_p50", first.percentile(50), "ms", FIRST_BYTE_P50_TARGET_MS,
           note=first.spread())
    figure("command_first_byte_p99", first.percentile(99), "ms", FIRST_BYTE_P99_TARGET_MS)
    figure("command_first_output_p50", output.percentile(50), "ms", WHOLE_P50_TARGET_MS,
           note=output.spread())
    figure("command_echo_hi_whole_p50", whole.percentile(50), "ms", WHOLE_P50_TARGET_MS,
           note=whole.spread())


def main():
    program = os.path.abspath(sys.argv[1])
    execd = Daemon(program)
    try:
        row_7(execd)
        row_8(program)
        row_9(execd)
        release.many_commands(execd, release.COMMANDS)
        figure("execd_rss_after_10000_commands", execd.rss_kib() / KIB_IN_MB, "MB",
               release.RSS_AFTER_COMMANDS_MAX_KIB / 1000)
    finally:
        execd.stop()


if __name__ == "__main__":
    main()
