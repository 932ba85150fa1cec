# SPDX-License-Identifier: Apache-2.0
"""What only a release build can show: size, memory, flat transfers (performance.md, row 7)."""
import hashlib
import http.client
import os
import socket
import threading

from cases import case, equal, true
from daemon import TOKEN, TOKEN_HEADER, until
from multipart import BOUNDARY, end, metadata

SIZE_MAX = 1200 * 1000  # bytes of the program
IDLE_RSS_MAX_KIB = 1500
RSS_AFTER_COMMANDS_MAX_KIB = 3000
COMMANDS = 10000
TRANSFER = 100 << 20  # bytes of one file
TRANSFER_GROWTH_MAX_KIB = 1024


@case("execd is at most 1.2 MB")
def size(execd):
    got = os.path.getsize(execd.process.args[0])
    print(f"execd_size_bytes {got}")
    true(got <= SIZE_MAX, f"{got} bytes")


@case("idle it holds at most 1.5 MB")
def idle(execd):
    got = execd.rss_kib()
    print(f"execd_idle_rss_kib {got}")
    true(got <= IDLE_RSS_MAX_KIB, f"{got} KiB")


def many_commands(execd, count):
    body = b'{"argv":["/bin/echo","hi"]}'
    request = b"POST /command HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s" % (
        TOKEN_HEADER.encode(), TOKEN.encode(), len(body), body)
    with socket.create_connection(("127.0.0.1", execd.port)) as connection:
        for _ in range(count):
            connection.sendall(request)
            received = b""
            while not received.endswith(b"0\r\n\r\n"):
                received += connection.recv(65536)
            true(b'"text":"hi"' in received, repr(received))


@case("100 MB up and down: to the byte, memory flat", limit_s=120)
def transfer(execd):
    path = execd.path("hundred")
    piece = os.urandom(1 << 20)
    digest = hashlib.sha256()
    peak = [0]
    before = execd.rss_kib()
    done = threading.Event()

    def watch():
        while not done.wait(0.005):
            peak[0] = max(peak[0], execd.rss_kib())
    watcher = threading.Thread(target=watch)
    watcher.start()

    def body():
        yield metadata(path, mode=644)
        yield (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n').encode()
        for _ in range(TRANSFER // len(piece)):
            digest.update(piece)
            yield piece
        yield b"\r\n" + end()
    try:
        connection = execd.open()
        headers = execd.headers({"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})
        connection.request("POST", "/files/upload", body(), headers, encode_chunked=True)
        answer = connection.getresponse()
        equal((answer.status, answer.read()), (200, b""))
        connection.request("GET", "/files/download?path=" + path, headers=execd.headers())
        answer = connection.getresponse()
        got = hashlib.sha256()
        while data := answer.read(1 << 20):
            got.update(data)
        connection.close()
    finally:
        done.set()
        watcher.join()
    equal(got.hexdigest(), digest.hexdigest())
    print(f"execd_transfer_rss_growth_kib {peak[0] - before}")
    true(peak[0] <= before + TRANSFER_GROWTH_MAX_KIB, f"{before} KiB before, at most {peak[0]}")
    os.unlink(path)


@case("a slow reader of a large file costs no memory")
def slow_reader(execd):
    path = execd.path("sparse")
    with open(path, "wb") as file:
        file.truncate(TRANSFER)
    before = execd.rss_kib()
    peers = []
    for _ in range(20):
        peer = http.client.HTTPConnection("127.0.0.1", execd.port, timeout=30)
        peer.request("GET", "/files/download?path=" + path, headers=execd.headers())
        peer.getresponse().read(1000)
        peers.append(peer)
    execd.check_growth(before, TRANSFER_GROWTH_MAX_KIB)
    for peer in peers:
        peer.close()


@case("after ten thousand commands it holds at most 3 MB", limit_s=300)
def after_commands(execd):
    before = execd.descriptors()
    many_commands(execd, COMMANDS)
    got = execd.rss_kib()
    print(f"execd_rss_after_10000_commands_kib {got}")
    true(got <= RSS_AFTER_COMMANDS_MAX_KIB, f"{got} KiB")
    until(lambda: execd.descriptors() <= before, 10, "descriptors")


@case("a thousand commands at once are all served", limit_s=120)
def thousand(execd):
    def one():
        connection = execd.open()
        connection.connect()
        return connection
    connections = [one() for _ in range(1000)]
    body = b'{"command":"exec 3< gate; echo ready; read -r _ <&3; echo hi"}'
    os.mkfifo(execd.path("gate"))
    gate = os.open(execd.path("gate"), os.O_RDWR)
    for connection in connections:
        connection.request("POST", "/command", body, execd.headers())
    answers = [connection.getresponse() for connection in connections]
    for answer in answers:
        while b'"ready"' not in answer.readline():
            pass
    os.close(gate)
    equal(sum(b'"text":"hi"' in answer.read() for answer in answers), len(answers))
    for connection in connections:
        connection.close()
