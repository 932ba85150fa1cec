# SPDX-License-Identifier: Apache-2.0
"""Output on its way to the client: complete, in order, held back, kept, whoever reads it or does not."""
import hashlib
import json
import os
import signal
import socket
import threading
import time

from cases import case, equal, true
from daemon import TOKEN, TOKEN_HEADER, events, exit_code, last, texts, until
from processes import alive, children, kill_all, make_fifo


@case("lines: LF, CR and CRLF end one, an empty one is a newline, the last needs no end")
def lines(execd):
    equal(texts(execd.run("printf 'a\\n\\nb'")), ["a", "\n", "b"])
    equal(texts(execd.run("printf '10%%\\r20%%\\rdone\\n'")), ["10%", "20%", "done"])
    equal(texts(execd.run("printf 'a\\r\\nb\\r\\n'")), ["a", "b"])


@case("all output of a process that ends right after writing arrives, and the stream ends at once")
def quick_end(execd):
    slowest = 0
    for number in range(200):
        start = time.monotonic()
        parsed = execd.run(f"echo {number}; echo e{number} >&2; exit {number % 5}")
        slowest = max(slowest, time.monotonic() - start)
        equal((texts(parsed), texts(parsed, "stderr"), exit_code(parsed)),
              ([str(number)], [f"e{number}"], number % 5))
    true(slowest < 2, f"the slowest took {slowest:.3f} s")


@case("a large last write arrives whole with the exit code")
def large_end(execd):
    parsed = execd.run(argv=["python3", "-c", "import os; os.write(1, b'z' * 60000); os._exit(3)"])
    equal((len("".join(texts(parsed))), exit_code(parsed)), (60000, 3))


@case("output is streamed: the command waits for the client before its next line")
def streaming(execd):
    connection, answer, _ = execd.start("for i in 1 2 3; do echo line $i; read -r _ < fifo$i; done",
                                        cwd=make_fifo(execd, "fifo1", "fifo2", "fifo3"))
    stream = events(answer)
    for number in (1, 2, 3):
        event = next(e for e in stream if e["type"] == "stdout")
        equal(event["text"], f"line {number}")
        with open(execd.path(f"fifo{number}"), "w", encoding="ascii") as fifo:
            fifo.write("\n")
    equal([e["type"] for e in stream if e["type"] != "ping"], ["execution_complete"])
    connection.close()


@case("512 lines of 4 KiB on each stream and a last line without end: complete and in order, slow reader")
def exact_output(execd):
    script = ("import sys\nfor i in range(512):\n"
              " sys.stdout.write(f'{i:04d}' + 'o' * 4092 + '\\n'); sys.stderr.write(f'{i:04d}' + 'e' * 4092 + '\\n')\n"
              "sys.stdout.write('ende \\u00fc\\u20ac')")
    connection, answer, _ = _start_python(execd, script)
    parsed = []
    for event in events(answer):
        parsed.append(event)
        if len(parsed) % 100 == 0:
            time.sleep(0.02)  # a slow reader is what this case is about
    connection.close()
    last(parsed)
    out = texts(parsed)
    equal(out[-1], "ende \u00fc\u20ac")
    equal([t[:4] for t in out[:-1]], [f"{i:04d}" for i in range(512)])
    equal([t[:4] for t in texts(parsed, "stderr")], [f"{i:04d}" for i in range(512)])
    true(all(len(t) == 4096 for t in out[:-1]), "whole lines")


def _start_python(execd, script):
    with open(execd.path("script.py"), "w", encoding="utf-8") as file:
        file.write(script)
    return execd.start("exec python3 " + execd.path("script.py"), envs={"PYTHONIOENCODING": "utf-8"})


@case("NUL, invalid UTF-8, U+0085 and U+2028 keep the stream parsable for clients that split lines")
def hostile_bytes(execd):
    for data, wanted in ((b"a\0b", "a\0b"), (b"\xff\xfe", "\ufffd\ufffd"), ("x\u0085y\u2028z\u2029".encode(), "x\u0085y\u2028z\u2029"),
                         (b"<&>\x1b[0m", "<&>\x1b[0m"), (b"\xed\xa0\x80", "\ufffd" * 3)):
        with open(execd.path("bytes"), "wb") as file:
            file.write(data)
        answer = execd.call("POST", "/command", {"argv": ["cat", execd.path("bytes")]})
        for line in answer.body.decode("utf-8").splitlines():
            if line:
                json.loads(line)
        equal([json.loads(f)["text"] for f in answer.body.split(b"\n\n") if b'"stdout"' in f], [wanted])


@case("a character that two writes share arrives whole")
def split_character(execd):
    parsed = execd.run("printf 'a\\342'; read -r _ < fifo & printf '\\202'; printf '\\254z\\n'; echo > fifo; wait",
                       cwd=make_fifo(execd))
    equal(texts(parsed), ["a\u20acz"])


@case("a line of 5 MB comes in pieces of at most 1 MiB that join to it")
def long_line(execd):
    parsed = execd.run("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end")
    out = texts(parsed)
    equal(out[-1], "end")
    equal(len("".join(out[:-1])), 5000000)
    true(max(map(len, out)) <= 1 << 20, "pieces")


@case("short lines by the million: complete, in bounded memory", limit_s=300)
def many_lines(execd):
    before = execd.rss_kib()
    connection, answer, _ = execd.start("yes '' | head -n 300000; seq 1 100000 | sha256sum; seq 1 100000")
    count, digest, numbers = 0, "", hashlib.sha256()
    for event in events(answer):
        if event["type"] == "stdout" and event["text"] == "\n":
            count += 1
        elif event["type"] == "stdout" and not digest:
            digest = event["text"].split()[0]
        elif event["type"] == "stdout":
            numbers.update(event["text"].encode() + b"\n")
    connection.close()
    equal((count, numbers.hexdigest()), (300000, digest))
    execd.check_growth(before, 4000)


@case("a client that does not read holds the command back instead of filling memory")
def back_pressure(execd):
    before = execd.rss_kib()
    with socket.create_connection(("127.0.0.1", execd.port)) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        body = json.dumps({"command": f"i=0; while :; do head -c 1000000 /dev/zero | tr '\\0' '\\n'; i=$((i+1)); echo $i > {execd.path('count')}; done"}).encode()
        peer.sendall(b"POST /command HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s" % (
            TOKEN_HEADER.encode(), TOKEN.encode(), len(body), body))
        stable_since, seen = time.monotonic(), None
        end = time.monotonic() + 30
        while time.monotonic() - stable_since < 1 and time.monotonic() < end:
            now = _count(execd)
            if now != seen:
                stable_since, seen = time.monotonic(), now
            time.sleep(0.05)
        true(time.monotonic() < end, "the command is held back")
        execd.check_growth(before, 4000)
    until(lambda: _count(execd) != seen, 10, "without its client the command runs on")
    kill_all(execd)


def _count(execd):
    try:
        with open(execd.path("count"), encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        return ""


@case("the stream ends with the leader although a background child holds its output; the child lives on")
def held_output(execd):
    start = time.monotonic()
    parsed = execd.run("(trap '' PIPE; while echo noise && sleep 0.05; do :; done) & echo $!; echo done")
    true(time.monotonic() - start < 5, "at once")
    equal(exit_code(parsed), 0)
    out = [t for t in texts(parsed) if t != "noise"]
    equal(out[1], "done")
    child = int(out[0])
    time_alive(child)
    os.kill(child, signal.SIGKILL)
    kill_all(execd)


def time_alive(child):
    """True only if it has written a while longer without SIGPIPE, EPIPE or a full pipe."""
    def written():
        with open(f"/proc/{child}/io", encoding="ascii") as io:
            return int(next(line for line in io if line.startswith("wchar")).split()[1])
    before = written()
    until(lambda: written() > before + 30, 10, "it goes on writing")
    true(alive(child), "it lives")


@case("a background child may write 10 MB after the end without being stopped")
def drained(execd):
    parsed = execd.run(f"(read -r _ < fifo; head -c 10000000 /dev/zero; echo ok > {execd.path('drained')}) & echo go", cwd=make_fifo(execd))
    equal(texts(parsed), ["go"])
    with open(execd.path("fifo"), "w", encoding="ascii") as fifo:
        fifo.write("\n")
    until(lambda: os.path.exists(execd.path("drained")), 20, "all is written")


@case("without its client a command runs on, its output is readable, its time-out holds")
def lost_client(execd):
    connection, answer, identity = execd.start("echo before; read -r _ < fifo; echo after; exit 4", cwd=make_fifo(execd))
    next(e for e in events(answer) if e["type"] == "stdout")
    answer.close()
    connection.close()
    with open(execd.path("fifo"), "w", encoding="ascii") as fifo:
        fifo.write("\n")
    equal(execd.wait_finished(identity)["exit_code"], 4)
    equal(execd.logs(identity).body, b"before\nafter\n")
    connection, answer, identity = execd.start("exec sleep 600", timeout=500)
    answer.close()
    connection.close()
    equal(execd.wait_finished(identity)["exit_code"], -1)


@case("logs keep 64 MiB of a command, the oldest goes first, a marker says how much", limit_s=300)
def bounded_logs(execd):
    parsed = execd.run("head -c 70000000 /dev/zero | tr '\\0' a; echo end", background=True)
    execd.wait_finished(parsed[0]["text"], 120)
    answer = execd.logs(parsed[0]["text"])
    equal(answer.headers["EXECD-COMMANDS-TAIL-CURSOR"], "70000004")
    dropped = 70000004 - (64 << 20)
    marker = f"[{dropped} bytes of older output were dropped]\n".encode()
    true(answer.body.startswith(marker), repr(answer.body[:80]))
    equal(len(answer.body), len(marker) + (64 << 20))
    true(answer.body.endswith(b"aaaend\n"), "the newest is there")
    equal(execd.logs(parsed[0]["text"], 70000000).body, b"end\n")


@case("pings come every three seconds while a command is silent")
def pings(execd):
    parsed = execd.run("sleep 7")
    stamps = [e["timestamp"] for e in parsed if e["type"] == "ping"]
    equal(len(stamps), 3)
    true(all(2900 < b - a < 4000 for a, b in zip(stamps, stamps[1:])), stamps)


@case("a thousand commands leave no process, no descriptor and no file", limit_s=300)
def no_leaks(execd):
    execd.run("true")
    before = execd.descriptors()
    threads = [threading.Thread(target=lambda: [execd.run("echo x; sleep 0 &") for _ in range(250)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: execd.descriptors() <= before, 10, "descriptors")
    until(lambda: not children(execd.process.pid), 10, "no child, no zombie")
    equal([name for name in os.listdir(execd.folder) if name.startswith("execd")], [])
