# SPDX-License-Identifier: Apache-2.0
"""The world of the operator's suite: both programs as processes, and a node that the test plays.

The node gives pods addresses of 127.0.0.0/8 and answers for their execd there, so that the operator's
questions go over real sockets."""
import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time

SANDBOXES = "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/default/batchsandboxes"
CORE = "/api/v1/namespaces/default/"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, condition, seconds=15):
    """Returns the first true value of CONDITION(); an error says what did not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {seconds} s")


class Api:
    """The API server's process and a client of it."""

    def __init__(self, world):
        self.world = world
        self.port = free_port()
        self.process = None

    def start(self):
        w = self.world
        self.process = w.spawn("apiserver", [
            "opensandbox-apiserver", "--listen", f"127.0.0.1:{self.port}", "--database", w.path("db"),
            "--crds", os.path.join(w.root, "apis/crds"), "--node-socket", w.path("node.sock"),
            "--node-name", "embedded", "--insecure"])

    def call(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def get(self, path):
        status, body = self.call("GET", path)
        return body if status == 200 else None

    def list(self, plural):
        return self.get(SANDBOXES if plural == "batchsandboxes" else CORE + plural)["items"]

    def merge(self, path, patch):
        return self.call("PATCH", path, patch, "application/merge-patch+json")


class Execd(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.paths.append(self.path)
        self.send_response(200 if self.path == "/ping" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Node:
    """Gives pods addresses, runs their execd, removes those that are to go."""

    def __init__(self, world):
        self.world = world
        self.servers = {}  # address -> server
        self.next = 1
        self.starts_execd = True
        self.is_stopped = False
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start_execd(self, address):
        if address in self.servers:
            return
        server = http.server.ThreadingHTTPServer((address, 44772), Execd)
        server.paths = []
        self.servers[address] = server
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop_execd(self, address):
        server = self.servers.pop(address, None)
        if server:
            server.shutdown()
            server.server_close()

    def turn(self):
        api = self.world.api
        for pod in api.list("pods"):
            metadata, status = pod["metadata"], pod.get("status", {})
            path = CORE + "pods/" + metadata["name"]
            if "deletionTimestamp" in metadata:
                if status.get("podIP"):
                    self.stop_execd(status["podIP"])
                api.call("DELETE", path, {"gracePeriodSeconds": 0,
                                          "preconditions": {"uid": metadata["uid"]}})
            elif not status.get("podIP"):
                address = f"127.44.{self.next >> 8}.{self.next & 255}"
                self.next += 1
                if self.starts_execd:
                    self.start_execd(address)
                api.merge(path + "/status", {"status": {
                    "podIP": address, "phase": "Running", "containerStatuses": [
                        {"name": "sandbox", "image": "x", "imageID": "", "ready": True,
                         "restartCount": 0, "state": {"running": {}}}]}})

    def run(self):
        while not self.is_stopped:
            try:
                self.turn()
            except (OSError, http.client.HTTPException, TypeError, ValueError):
                pass  # the API server is down: the suite does that on purpose
            time.sleep(0.01)


class World:
    def __init__(self):
        self.root = os.environ["OSB_ROOT"]
        self.bin = os.environ["OSB_BIN"]
        self.tmp = os.environ["OSB_TEST_TMP"]
        self.logs = os.environ["OSB_TEST_LOGS"]
        self.children = []
        self.api = Api(self)
        self.node = Node(self)
        self.operator = None
        self.health_port = free_port()
        with open(self.path("kubeconfig"), "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                       "clusters": [{"name": "k", "cluster": {
                           "server": f"http://127.0.0.1:{self.api.port}"}}],
                       "users": [{"name": "u", "user": {}}]}, f)
        with open(self.path("operator.toml"), "w", encoding="utf-8") as f:
            f.write(f'[server]\nhost = "127.0.0.1"\nport = 0\napi_key = "{os.urandom(8).hex()}"\n'
                    f'[runtime]\ntype = "kubernetes"\n'
                    f'[kubernetes]\nnamespace = "default"\nexecd_injection = "shim"\n[health]\nport = {self.health_port}\n')

    def path(self, name):
        return os.path.join(self.tmp, name)

    def spawn(self, log, argv):
        """Starts a program and waits for its ready line."""
        ours, theirs = os.pipe()
        with open(os.path.join(self.logs, f"operator-suite-{log}.log"), "ab") as out:
            process = subprocess.Popen(
                [os.path.join(self.bin, argv[0]), *argv[1:], "--ready-fd", str(theirs)],
                stdout=out, stderr=out, pass_fds=[theirs])
        os.close(theirs)
        self.children.append(process)
        with os.fdopen(ours, "rb") as ready:
            if ready.readline() != b"ready\n":
                raise AssertionError(f"{argv[0]} did not get ready")
        return process

    def start_operator(self):
        self.operator = self.spawn("operator", [
            "opensandbox-operator", "--kubeconfig", self.path("kubeconfig"), "--config",
            self.path("operator.toml")])

    def stop(self, process, signo=signal.SIGTERM):
        process.send_signal(signo)
        code = process.wait(15)
        self.children.remove(process)
        return code

    def close(self):
        self.node.is_stopped = True
        if self.node.thread.is_alive():
            self.node.thread.join(5)
        for address in list(self.node.servers):
            self.node.stop_execd(address)
        for process in list(self.children):
            self.stop(process, signal.SIGKILL)

    # ---- what the cases look at ----

    def create(self, name, replicas=1, marked=True, **spec):
        template = {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "sandbox", "image": "x", "command": ["sleep", "inf"]}]}}
        if marked:
            template["metadata"] = {"annotations": {"opensandbox.io/inject": "execd"}}
        status, body = self.api.call("POST", SANDBOXES, {
            "apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox",
            "metadata": {"name": name, "annotations": {"opensandbox.io/request-id": "req-" + name}},
            "spec": {"replicas": replicas, "template": template, **spec}})
        assert status == 201, body

    def sandbox(self, name):
        return self.api.get(f"{SANDBOXES}/{name}")

    def status(self, name):
        return (self.sandbox(name) or {}).get("status", {})

    def phase(self, name):
        return self.status(name).get("phase")

    def condition(self, name, kind):
        for condition in self.status(name).get("conditions", []):
            if condition["type"] == kind:
                return condition
        return {}

    def pods_of(self, name):
        label = "batch-sandbox.sandbox.opensandbox.io/name"
        return [p for p in self.api.list("pods") if p["metadata"].get("labels", {}).get(label) == name]

    def endpoints(self, name):
        annotations = self.sandbox(name)["metadata"].get("annotations", {})
        return json.loads(annotations.get("sandbox.opensandbox.io/endpoints", "null"))

    def health(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.health_port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()
