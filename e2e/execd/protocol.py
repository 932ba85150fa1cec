# SPDX-License-Identifier: Apache-2.0
"""Authentication, unknown routes, and requests that no honest client sends."""
import http.client
import json
import socket
import threading
import time

from cases import case, equal, true
from daemon import TOKEN, TOKEN_HEADER


@case("ping answers without a token, by GET and by HEAD, with an empty body")
def ping(execd):
    for method in ("GET", "HEAD"):
        answer = execd.call(method, "/ping", headers={TOKEN_HEADER: "wrong"})
        equal((answer.status, answer.body), (200, b""))
        equal(answer.headers["Content-Length"], "0")
        equal(answer.headers["Content-Type"], None)


@case("without the right token every route is 401 with code, message and error")
def authentication(execd):
    for token in ("", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper()):
        for method, path in (("POST", "/command"), ("GET", "/files/info"), ("GET", "/nope"),
                             ("POST", "/files/upload"), ("DELETE", "/command?id=x")):
            answer = execd.call(method, path, b"{}", {TOKEN_HEADER: token})
            equal(answer.status, 401, path)
            body = answer.json()
            true(TOKEN_HEADER in body["error"] and body["code"] and body["message"], f"{path}: {body}")


@case("an unknown path and a wrong method are 404")
def unknown(execd):
    for method, path in (("GET", "/nope"), ("GET", "/"), ("PUT", "/command"), ("POST", "/ping"),
                         ("GET", "/files/upload"), ("OPTIONS", "/command"), ("GET", "/ping/")):
        answer = execd.call(method, path)
        equal((answer.status, answer.body), (404, b"404 page not found"), f"{method} {path}")


@case("a route of the contract that is not built says so with 501")
def not_built(execd):
    for method, path in (("POST", "/session"), ("POST", "/pty"), ("POST", "/code"),
                         ("GET", "/proxy/80/x"), ("POST", "/v1/isolated/session")):
        answer = execd.call(method, path, b"{}")
        equal((answer.status, answer.json()["code"]), (501, "NOT_SUPPORTED"), path)


@case("a bad body is 400 with a code, before any event")
def bad_bodies(execd):
    deep = '{"command":"true","x":' + "[" * 10000 + "]" * 10000 + "}"
    for body in (b"", b"{", b"[]", b"null", b"{}", b"\xff", b'{"command":1}', b'{"command":""}',
                 b'{"command":"true","gid":1}', b'{"command":"true","timeout":-1}',
                 b'{"command":"true","argv":["true"]}', b'{"argv":[]}', b'{"argv":["a\\u0000"]}',
                 b'{"command":"true","cwd":"/nonexistent"}', b'{"command":"true","cwd":"/etc/passwd"}',
                 b'{"command":"true","cwd":"$NO_SUCH_VARIABLE"}',
                 b'{"command":"true","envs":{"A=B":"1"}}', deep.encode()):
        answer = execd.call("POST", "/command", body)
        equal((answer.status, answer.json()["code"]), (400, "INVALID_REQUEST_BODY"), body[:60])
        true(answer.json()["message"], "there is a message")


@case("unknown fields, nulls, other cases of keys and bytes behind the object are taken")
def lenient_bodies(execd):
    body = b'{"Command":"true","CWD":null,"envs":null,"x":{"y":[1]},"timeout":0} and more'
    answer = execd.call("POST", "/command", body)
    equal(answer.status, 200)
    true(b"execution_complete" in answer.body, "it ran")


@case("a body above the limit is 413")
def large_body(execd):
    answer = execd.call("POST", "/command", b'{"command":"' + b"x" * (17 << 20) + b'"}')
    equal(answer.status, 413)


def request(*lines, body=b""):
    head = "\r\n".join(lines).encode("latin-1")
    return head + b"\r\n\r\n" + body


VECTORS = {
    "both lengths": request("POST /command HTTP/1.1", "Host: x", "Content-Length: 4",
                            "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "two lengths": request("POST /command HTTP/1.1", "Host: x", "Content-Length: 4",
                           "Content-Length: 5", body=b"{}  x"),
    "signed length": request("POST /command HTTP/1.1", "Host: x", "Content-Length: +4", body=b"{}  "),
    "chunked not last": request("POST /command HTTP/1.1", "Host: x",
                                "Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n"),
    "unknown coding": request("POST /command HTTP/1.1", "Host: x", "Transfer-Encoding: xchunked"),
    "blank before colon": request("GET /ping HTTP/1.1", "Host : x"),
    "folded header": request("GET /ping HTTP/1.1", "Host: x", "A: b", " c"),
    "bare LF": b"GET /ping HTTP/1.1\nHost: x\n\n",
    "bare CR in a value": b"GET /ping HTTP/1.1\r\nHost: x\r\nA: b\rc: d\r\n\r\n",
    "two hosts": request("GET /ping HTTP/1.1", "Host: x", "Host: y"),
    "no host": request("GET /ping HTTP/1.1"),
    "NUL in a header": request("GET /ping HTTP/1.1", "Host: x", "A: \0"),
    "hex prefix in a chunk": request("POST /command HTTP/1.1", "Host: x",
                                     f"{TOKEN_HEADER}: {TOKEN}", "Transfer-Encoding: chunked",
                                     body=b"0x2\r\n{}\r\n0\r\n\r\n"),
    "LF in a chunk extension": request("POST /command HTTP/1.1", "Host: x",
                                       f"{TOKEN_HEADER}: {TOKEN}", "Transfer-Encoding: chunked",
                                       body=b"2;a\nb\r\n{}\r\n0\r\n\r\n"),
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
}


@case("every smuggling vector gets one error and a closed connection")
def smuggling(execd):
    for name, data in VECTORS.items():
        received = execd.raw(data + b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n", 10)
        true(received.startswith(b"HTTP/1.1 4") or received.startswith(b"HTTP/1.1 5"),
             f"{name}: {received[:60]!r}")
        equal(received.count(b"HTTP/1.1 "), 1, name)


@case("a head beyond its limits is 431 or 414")
def large_head(execd):
    for data in (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n", b"GET /ping HTTP/1.1\r\nHost: x\r\nA: " +
                 b"b" * 100000 + b"\r\n\r\n",
                 b"GET /ping HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 5000 + b"\r\n"):
        received = execd.raw(data, 10)
        true(received[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 414"), repr(received[:60]))


@case("many half-open and slow connections do not keep others waiting")
def slow_peers(execd):
    peers = []
    for i in range(200):
        peer = socket.create_connection(("127.0.0.1", execd.port))
        if i % 2:
            peer.sendall(b"POST /command HTTP/1.1\r\nHost: x\r\nContent-Le")
        peers.append(peer)
    start = time.monotonic()
    equal(execd.run("echo quick")[-1]["type"], "execution_complete")
    true(time.monotonic() - start < 5, "an honest client is served")
    for peer in peers:
        peer.close()


@case("a client that vanishes inside its request leaves nothing")
def half_requests(execd):
    before = execd.descriptors()
    for i in range(100):
        with socket.create_connection(("127.0.0.1", execd.port)) as peer:
            peer.sendall(f"POST /command HTTP/1.1\r\nHost: x\r\n{TOKEN_HEADER}: {TOKEN}\r\n"
                         f"Content-Length: {100 + i}\r\n\r\n{{\"comm".encode())
    end = time.monotonic() + 10
    while execd.descriptors() > before and time.monotonic() < end:
        time.sleep(0.01)
    true(execd.descriptors() <= before, f"descriptors: {before} before, {execd.descriptors()} after")


@case("requests behind one another on a connection are answered in order")
def pipelining(execd):
    one = request("GET /ping HTTP/1.1", "Host: x")
    end = request("GET /nope HTTP/1.1", "Host: x", "Connection: close", f"{TOKEN_HEADER}: {TOKEN}")
    received = execd.raw(one * 3 + end)
    equal(received.count(b"200 OK"), 3)
    true(received.rstrip().endswith(b"404 page not found"), "the last is the last")


@case("a client of HTTP/1.0 gets its stream until the close")
def old_client(execd):
    body = b'{"command":"echo old"}'
    received = execd.raw(b"POST /command HTTP/1.0\r\nContent-Length: %d\r\n%s: %s\r\n\r\n%s" % (
        len(body), TOKEN_HEADER.encode(), TOKEN.encode(), body))
    head, _, rest = received.partition(b"\r\n\r\n")
    true(b"chunked" not in head.lower(), repr(head))
    true(rest.rstrip().endswith(b"}") and b'"text":"old"' in rest, repr(rest))


@case("a hundred clients at once each get their own answer")
def concurrency(execd):
    wrong = []

    def one(number):
        try:
            parsed = execd.run(f"echo number {number}; exit {number % 7}")
            if [e["text"] for e in parsed if e["type"] == "stdout"] != [f"number {number}"]:
                wrong.append((number, parsed))
        except (OSError, http.client.HTTPException, AssertionError, json.JSONDecodeError) as error:
            wrong.append((number, error))
    threads = [threading.Thread(target=one, args=(i,)) for i in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(wrong, [])
