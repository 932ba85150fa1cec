# SPDX-License-Identifier: Apache-2.0
"""Bad input to the API server, the REST facade and execd: run.py api|facade|execd.

After each group the server must still be healthy; that it has neither crashed nor leaked is read from
its sanitizers' reports by the suite.
"""
import copy
import json
import os
import socket
import struct
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib")]

import cases  # noqa: E402  the path comes first
import peers  # noqa: E402
import vectors  # noqa: E402
from cases import case, equal, true  # noqa: E402

HALF_OPEN = 100
# The server's own limit for a head is 10 s.
HEAD_CLOSE_S = 20
RESETS = 200


def is_clear_error(answer, statuses):
    """One answer, of these statuses, whose body says something to a person."""
    true(answer.status in statuses, f"status {answer.status}, wanted one of {sorted(statuses)}: {answer}")
    equal(answer.count, 1, "answers")
    true(answer.json().get("message"), f"no message: {answer}")


def each(server, table, check):
    """Runs CHECK on each entry; all that is wrong is told at once."""
    wrong = []
    for name, entry in table.items():
        try:
            check(entry)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{name}: {error!r}")
            wrong.append(f"{name}: {error}")
    true(not wrong, f"{len(wrong)} of {len(table)}: " + "; ".join(w[:110] for w in wrong))
    peers.healthy(server)


@case("a good request is understood")
def _(server):
    peers.healthy(server)
    answer = peers.exchange(server, server.post(json.dumps(server.good)))
    # The facade's good request is refused for its empty image, which shows that it was read.
    true(answer.status in ((400,) if server.name == "facade" else (200, 201)), repr(answer))


@case("a head that could be read in two ways is refused, and what follows is not answered")
def _(server):
    each(server, vectors.framing(), lambda make: is_clear_error(
        peers.exchange(server, make(server) + vectors.SMUGGLED), {400, 408, 413, 414, 431, 501, 505}))


@case("malformed, wrong and very deep JSON is a 400 that says why")
def _(server):
    each(server, vectors.JSON, lambda body: is_clear_error(
        peers.exchange(server, server.post(body)), {400}))


@case("values of a wrong type are a 400")
def _(server):
    table = {}
    for key, value in server.good.items():
        # A list with a null in it is no value of any of these keys.
        table[key] = {**server.good, key: [None, {"x": 1}] if not isinstance(value, list) else 7}
    each(server, table, lambda body: is_clear_error(
        peers.exchange(server, server.post(json.dumps(body))), {400, 422} if server.name == "API server"
        else {400}))


@case("malformed, looping and very deep YAML is a 400 that says why")
def _(server):
    if server.name != "API server":
        # No YAML is read there; its type alone is refused, or the body is taken for bad JSON.
        is_clear_error(peers.exchange(server, server.post("a: b", "application/yaml")), {400, 415})
        return
    each(server, vectors.YAML, lambda body: is_clear_error(
        peers.exchange(server, server.post(body, "application/yaml")), {400, 422}))


@case("a body that is too large is refused before it is read")
def _(server):
    head = server.head("Content-Type: application/json", "Content-Length: 1000000000")
    begin = time.monotonic()
    is_clear_error(peers.exchange(server, head + b"{"), {413})
    true(time.monotonic() - begin < 5, "it waited for the body")


@case("a chunked body without an end is refused at its limit")
def _(server):
    head = server.head("Content-Type: application/json", "Transfer-Encoding: chunked")
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    answer = peers.exchange(server, None, pieces=[head] + [piece] * 2000)
    # The answer may be lost when it races with what we still send; it must have ended in any case.
    true(answer.status in (413, None), repr(answer))
    peers.healthy(server)


@case("connections that stop in the middle of a head are closed, and others are served meanwhile")
def _(server):
    sockets = [server.connect() for _ in range(HALF_OPEN)]
    try:
        for sock in sockets:
            sock.sendall(server.head()[:25])
        begin = time.monotonic()
        peers.healthy(server)
        true(time.monotonic() - begin < 2, "others had to wait")
        end = time.monotonic() + HEAD_CLOSE_S
        for sock in sockets:
            sock.settimeout(max(0.1, end - time.monotonic()))
            raw = sock.recv(65536)
            true(raw == b"" or b" 408 " in raw.split(b"\r\n")[0], f"got {raw[:80]!r}")
    finally:
        for sock in sockets:
            sock.close()


@case("a head that trickles in does not outlive its limit")
def _(server):
    begin = time.monotonic()
    with server.connect() as sock:
        sock.settimeout(0.5)
        data = server.head("X-Slow: " + "a" * 1000)
        for byte in data:
            try:
                sock.sendall(bytes([byte]))
                if sock.recv(65536) is not None:
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    true(time.monotonic() - begin < HEAD_CLOSE_S, f"it lived {time.monotonic() - begin:.0f} s")
    peers.healthy(server)


@case("connections that are reset at any point do no harm")
def _(server):
    data = server.post(json.dumps(server.good))
    for i in range(RESETS):
        sock = server.connect()
        sock.sendall(data[:i * len(data) // RESETS])
        # Linger of zero: closing sends a reset.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    peers.healthy(server)


@case("no or wrong credentials are a 401 that says so")
def _(server):
    for change in server.strangers:
        stranger = copy.copy(server)
        vars(stranger).update(change)
        is_clear_error(peers.exchange(stranger, stranger.post(json.dumps(server.good))), {401})


def main():
    which = sys.argv[1]
    if which == "api":
        server = peers.api_server(os.environ["OPENSANDBOX_STATE"])
    elif which == "facade":
        server = peers.facade(os.environ["OPEN_SANDBOX_DOMAIN"], os.environ["OPEN_SANDBOX_API_KEY"])
    else:
        server = peers.execd(int(sys.argv[2]), os.environ["EXECD_ACCESS_TOKEN"])
    return cases.run(server, prefix=server.name + ": ") > 0


if __name__ == "__main__":
    sys.exit(main())
