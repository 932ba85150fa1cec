# SPDX-License-Identifier: Apache-2.0
"""The servers that get bad input, and one connection to one of them, byte by byte."""
import json
import os
import re
import socket
import ssl

ANSWER_LIMIT_S = 20


class Server:
    """Where a server listens, how to be let in, and one good request that has a JSON body."""

    def __init__(self, name, address, headers, health, target, good, tls=None):
        self.name = name
        self.address = address
        self.headers = headers
        self.health = health
        self.method_and_path = target
        self.good = good
        self.tls = tls
        # Ways to come without being let in; each is a change of this server's description.
        self.strangers = [{"headers": {}}, {"headers": {name: "wrong" for name in headers}}]

    def connect(self):
        plain = socket.create_connection(self.address, timeout=ANSWER_LIMIT_S)
        return self.tls.wrap_socket(plain) if self.tls else plain

    def head(self, *lines, target=None, host=True):
        """A request head; LINES are more header lines, as they are."""
        first = [f"{target or self.method_and_path} HTTP/1.1"]
        if host:
            first.append("Host: server")
        first += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(first + list(lines)) + "\r\n\r\n").encode("latin-1")

    def post(self, body, content_type="application/json"):
        if isinstance(body, str):
            body = body.encode("utf-8", "surrogatepass")
        return self.head(f"Content-Type: {content_type}", f"Content-Length: {len(body)}",
                         "Connection: close") + body


class Answer:
    def __init__(self, raw):
        self.raw = raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        match = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
        self.status = int(match[1]) if match else None
        self.head = head.decode("latin-1")
        # Answers that follow in the same connection: a second request was seen.
        self.count = len(re.findall(rb"(?:^|\n|\}|\0)HTTP/1\.1 \d{3} ", raw))
        if "transfer-encoding: chunked" in self.head.lower():
            self.body = unchunk(self.body)

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.raw[:200]!r}"


def unchunk(data):
    whole = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size.split(b";")[0] or b"0", 16)
        if length == 0:
            break
        whole, data = whole + data[:length], data[length + 2:]
    return whole


def exchange(server, data, pieces=None, shut=False):
    """Sends DATA and reads until the server closes; an Answer. The server may close while we send."""
    with server.connect() as sock:
        try:
            for piece in pieces or [data]:
                sock.sendall(piece)
            if shut and not server.tls:
                sock.shutdown(socket.SHUT_WR)
        except (OSError, ssl.SSLError):
            pass
        raw = b""
        try:
            while True:
                piece = sock.recv(65536)
                if not piece:
                    break
                raw += piece
        except (OSError, ssl.SSLError):
            pass
        return Answer(raw)


def healthy(server):
    answer = exchange(server, server.head("Connection: close", target="GET " + server.health))
    if answer.status != 200:
        raise AssertionError(f"{server.name} is not healthy: {answer}")


def api_server(state):
    with open(os.path.join(state, "instance.json"), encoding="utf-8") as file:
        where = json.load(file)["api"]
    context = ssl.create_default_context(cafile=os.path.join(state, "pki", "ca.crt"))
    # Peers are checked by the instance's CA; the address is a loopback one.
    context.check_hostname = False
    context.load_cert_chain(os.path.join(state, "pki", "admin.crt"), os.path.join(state, "pki", "admin.key"))
    nobody = ssl.create_default_context(cafile=os.path.join(state, "pki", "ca.crt"))
    nobody.check_hostname = False
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"generateName": "bad-input-"}}
    server = Server("API server", (where["address"], where["port"]), {}, "/readyz",
                    "POST /api/v1/namespaces/default/secrets?dryRun=All", secret, context)
    # Who one is, is said by a certificate.
    server.strangers = [{"tls": nobody}, {"tls": nobody, "headers": {"Authorization": "Bearer wrong"}}]
    return server


def facade(domain, key):
    host, port = domain.rsplit(":", 1)
    # A body that is well-formed and refused, so that no sandbox is made.
    body = {"image": {"uri": ""}, "timeout": 300, "entrypoint": ["true"],
            "resourceLimits": {"cpu": "100m", "memory": "64Mi"}}
    return Server("facade", (host, int(port)), {"OPEN-SANDBOX-API-KEY": key}, "/health",
                  "POST /v1/sandboxes", body)


def execd(port, token):
    return Server("execd", ("127.0.0.1", port), {"X-EXECD-ACCESS-TOKEN": token}, "/ping",
                  "POST /command", {"command": "true"})
