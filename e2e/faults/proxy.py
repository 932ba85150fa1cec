# SPDX-License-Identifier: Apache-2.0
"""A proxy in front of an API server that does to its answers what a test asks for, and counts requests.

It speaks TLS to both sides: to the client with the server's own certificate, to the server as one of its
clients."""
import collections
import http.client
import http.server
import json
import random
import re
import ssl
import threading

HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length"}
RESOURCE = re.compile(r"^/apis?/(?:[^/?]+/)?v[^/?]+/(?:namespaces/[^/?]+/)?([^/?]+)")
WRITES = ("POST", "PUT", "PATCH", "DELETE")
TIMEOUT_S = 60


class Faults:
    """What is done to requests now; changed by the test while requests go on."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.lost_share = 0.0        # of answers to writes: acted upon, never heard of
        self.lost = 0
        self.is_throttling = False   # 429, come back in RETRY_AFTER_S
        self.retry_after_s = 1
        self.throttled = 0
        self.are_watches_expired = False
        self.expired = 0
        self.counts = collections.Counter()
        self.watches = set()

    def is_lost(self):
        with self.lock:
            is_lost = self.random.random() < self.lost_share
            self.lost += is_lost
            return is_lost

    def count(self, method, path):
        found = RESOURCE.match(path)
        with self.lock:
            self.counts[method, found.group(1) if found else path, "watch=" in path] += 1

    def total(self):
        with self.lock:
            return sum(self.counts.values())

    def cut_watches(self):
        """Ends every watch in the middle; the number."""
        with self.lock:
            cut = list(self.watches)
        for connection in cut:
            try:
                connection.shutdown(2)
            except OSError:
                pass
        return len(cut)


def status(code, reason, message, **details):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": message, "metadata": {}, **details}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_arguments):
        pass

    def answer(self, code, body, headers=()):
        text = json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:  # either side is gone
            self.close_connection = True

    def serve(self):
        faults = self.server.faults
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        faults.count(self.command, self.path)
        if faults.is_throttling:
            with faults.lock:
                faults.throttled += 1
            self.answer(429, status(429, "TooManyRequests", "the test says so"),
                        [("Retry-After", str(faults.retry_after_s))])
            return
        is_watch = "watch=" in self.path
        if is_watch and faults.are_watches_expired:
            with faults.lock:
                faults.expired += 1
            self.answer(410, status(410, "Expired", "too old resource version: the test says so"))
            return
        self.pass_on(body, is_watch)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    def pass_on(self, body, is_watch):
        faults = self.server.faults
        upstream = http.client.HTTPSConnection(*self.server.upstream, context=self.server.client_context,
                                               timeout=None if is_watch else TIMEOUT_S)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            upstream.request(self.command, self.path, body or None, headers)
            answer = upstream.getresponse()
            if self.command in WRITES and faults.is_lost():
                answer.read()
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            if is_watch and answer.status == 200:
                self.stream(answer)
            else:
                text = answer.read()
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
        except (OSError, http.client.HTTPException):
            # As the client would see it without us: the connection ends.
            self.close_connection = True
        finally:
            upstream.close()

    def stream(self, answer):
        faults = self.server.faults
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with faults.lock:
            faults.watches.add(self.connection)
        try:
            while piece := answer.read1(65536):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        finally:
            with faults.lock:
                faults.watches.discard(self.connection)


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream, certificate, key, client, seed):
        """UPSTREAM is (host, port); CLIENT is (CA, certificate, key) of who we are there."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = upstream
        self.faults = Faults(seed)
        authority, own, own_key = client
        self.client_context = ssl.create_default_context(cafile=authority)
        self.client_context.load_cert_chain(own, own_key)
        self.server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_context.load_cert_chain(certificate, key)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):
        # In the connection's own thread: a slow handshake holds nobody up.
        request.settimeout(TIMEOUT_S)
        with self.server_context.wrap_socket(request, server_side=True) as connection:
            connection.settimeout(None)
            super().finish_request(connection, client_address)

    def handle_error(self, request, client_address):
        pass
