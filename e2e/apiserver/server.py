# SPDX-License-Identifier: Apache-2.0
"""An API server of the suite's own, and clients of it that are known by certificates."""
import http.client
import json
import os
import select
import signal
import ssl
import subprocess
import threading

ROOT = os.environ["OSB_ROOT"]
TMP = os.environ["OSB_TEST_TMP"]
LOGS = os.environ["OSB_TEST_LOGS"]
PKI = os.path.join(TMP, "pki")
SOCKET = os.path.join(TMP, "node.sock")
READY_LIMIT_S = 30
# Whose program: the suite `threads` takes the one with ThreadSanitizer.
PRESET = os.environ.get("OSB_APISERVER_PRESET", "dev")
# AddressSanitizer keeps freed memory for a while, 256 MiB of it unless told; memory is measured here.
SANITIZER = {"ASAN_OPTIONS": "quarantine_size_mb=8:detect_leaks=1"}
SECRETS = "/api/v1/namespaces/default/secrets"
PODS = "/api/v1/namespaces/default/pods"
SANDBOXES = "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/default/batchsandboxes"


class Server:
    """Started and ended by the cases; each start has a log of its own."""

    def __init__(self):
        self.process = None
        self.port = 0
        self.starts = 0
        self.database = os.path.join(TMP, "store.sqlite")

    def start(self):
        reading, writing = os.pipe()
        self.starts += 1
        self.log = os.path.join(LOGS, f"apiserver-{self.starts}.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(ROOT, "build", PRESET, "bin/opensandbox-apiserver"),
                 "--listen", f"127.0.0.1:{self.port}", "--database", self.database,
                 "--crds", os.path.join(ROOT, "apis/crds"), "--node-socket", SOCKET,
                 "--node-name", "embedded", "--tls-cert", os.path.join(PKI, "apiserver.crt"),
                 "--tls-key", os.path.join(PKI, "apiserver.key"),
                 "--client-ca", os.path.join(PKI, "ca.crt"), "--ready-fd", str(writing)],
                pass_fds=[writing], env={**os.environ, **SANITIZER}, stderr=log, stdin=subprocess.DEVNULL)
        os.close(writing)
        ready, _, _ = select.select([reading], [], [], READY_LIMIT_S)
        word = os.read(reading, 16) if ready else b""
        os.close(reading)
        if word != b"ready\n":
            raise AssertionError(f"not ready: {self.last_line()}")
        if not self.port:
            self.port = self._logged_port()

    def last_line(self):
        with open(self.log, encoding="utf-8") as log:
            return (log.read().splitlines() or ["(no log)"])[-1]

    def _logged_port(self):
        with open(self.log, encoding="utf-8") as log:
            for line in log:
                if '"serving"' in line:
                    return json.loads(line)["port"]
        raise AssertionError("the log does not say the port")

    def end(self, how=signal.SIGTERM):
        """Ends it; the exit status of a good end is 0."""
        self.process.send_signal(how)
        return self.process.wait(20)

    def client(self, who="admin"):
        return Client(self.port, who)


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)


def tls(who):
    context = ssl.create_default_context(cafile=os.path.join(PKI, "ca.crt"))
    if who:
        context.load_cert_chain(os.path.join(PKI, f"{who}.crt"), os.path.join(PKI, f"{who}.key"))
    return context


class Client:
    """One connection, kept alive."""

    def __init__(self, port, who):
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=tls(who))

    def call(self, method, path, body=None, content_type="application/json"):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        headers = {"Content-Type": content_type} if data is not None else {}
        self.connection.request(method, path, data, headers)
        answer = self.connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body):
        return self.call("POST", path, body)

    def merge(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def open(self, path):
        """A streamed answer, to be read by line."""
        self.connection.request("GET", path)
        return self.connection.getresponse()

    def close(self):
        self.connection.close()


class Watch:
    """A watch that collects its events on a thread."""

    def __init__(self, server, path):
        self.client = server.client()
        self.events = []
        self.changed = threading.Condition()
        self.is_over = False
        self.answer = self.client.open(path)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            for line in self.answer:
                with self.changed:
                    self.events.append(json.loads(line))
                    self.changed.notify_all()
        except (OSError, http.client.HTTPException, ValueError):
            pass
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def wait(self, condition, limit_s=20):
        """Waits until CONDITION holds of the events."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self.events), limit_s):
                raise AssertionError(f"not seen; the events are {self.words()}")

    def words(self):
        return [(e["type"], e["object"]["metadata"].get("name", "")) for e in self.events]

    def wait_over(self, limit_s=20):
        with self.changed:
            if not self.changed.wait_for(lambda: self.is_over, limit_s):
                raise AssertionError("the watch goes on")


def secret(name, **metadata):
    return {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": name, **metadata}}


def pod(name):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "base:1"}]}}
