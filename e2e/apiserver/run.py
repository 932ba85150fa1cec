# SPDX-License-Identifier: Apache-2.0
"""The API server over real sockets, TLS and disk. What needs none of these is in its unit tests."""
import http.server
import os
import random
import signal
import socket
import socketserver
import sqlite3
import sys
import threading

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib")]

import cases  # noqa: E402  the path comes first
from cases import case, equal, true  # noqa: E402
from server import PODS, SANDBOXES, SECRETS, SOCKET, Client, Server, Watch, pod, secret  # noqa: E402

WRITERS = 16
WRITES_EACH = 25
KILLS = 5
SLOW_BYTES = 700 * 1024
SLOW_OBJECTS = 120


@case("who is not known may read health and version only")
def _(server):
    anonymous = Client(server.port, None)
    for path in ("/livez", "/readyz", "/healthz", "/version"):
        equal(anonymous.get(path).status, 200, path)
    for path in ("/api", "/api/v1/pods", "/openapi/v3", "/metrics"):
        answer = anonymous.get(path)
        equal(answer.status, 401, path)
        equal(answer.json()["reason"], "Unauthorized", path)
    equal(server.client("nobody").get(PODS).status, 403, "a role without rules")


@case("the node's role may do its work and no more")
def _(server):
    node = server.client("node")
    equal(server.client().post(PODS, pod("p")).status, 201, "created")
    equal(node.merge(f"{PODS}/p/status", {"status": {"phase": "Running"}}).status, 200, "status")
    equal(node.merge(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}}).status, 403, "the pod itself")
    equal(node.post(SECRETS, secret("no")).status, 403, "a secret")
    equal(node.call("DELETE", f"{PODS}/p?gracePeriodSeconds=0").status, 200, "the end")


@case("an optimistic lock is lost by all but one")
def _(server):
    admin = server.client()
    base = admin.post(SECRETS, secret("lock")).json()
    base["metadata"]["annotations"] = {"winner": "?"}
    results = []

    def put(who):
        mine = {**base, "metadata": {**base["metadata"], "annotations": {"winner": str(who)}}}
        results.append(server.client().call("PUT", f"{SECRETS}/lock", mine).status)

    threads = [threading.Thread(target=put, args=(i,)) for i in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(sorted(results), [200] + [409] * (WRITERS - 1), "answers")


@case("a watch sees every write of many writers once, in order")
def _(server):
    watch = Watch(server, f"{SECRETS}?watch=true&labelSelector=many%3Dyes")

    def write(who):
        client = server.client()
        for i in range(WRITES_EACH):
            body = secret(f"many-{who}-{i}", labels={"many": "yes"})
            equal(client.post(SECRETS, body).status, 201, "created")

    threads = [threading.Thread(target=write, args=(i,)) for i in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watch.wait(lambda events: len(events) >= WRITERS * WRITES_EACH)
    versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in watch.events]
    equal(versions, sorted(set(versions)), "rising versions")
    equal(len(versions), WRITERS * WRITES_EACH, "events")
    equal({e["type"] for e in watch.events}, {"ADDED"}, "types")
    answer = server.client().call("DELETE", f"{SECRETS}?labelSelector=many%3Dyes")
    equal(answer.status, 200, "the collection's deletion")
    watch.wait(lambda events: sum(e["type"] == "DELETED" for e in events) == WRITERS * WRITES_EACH)
    watch.client.close()


@case("owners take their dependents with them, in the background and over the API")
def _(server):
    admin = server.client()
    owner = admin.post(SANDBOXES, {"kind": "BatchSandbox", "apiVersion": "sandbox.opensandbox.io/v1alpha1",
                                   "metadata": {"name": "o"}, "spec": {"replicas": 0}}).json()
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "o",
                 "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    watch = Watch(server, f"{SECRETS}?watch=true&fieldSelector=metadata.name%3Downed")
    equal(admin.post(SECRETS, secret("owned", ownerReferences=[reference])).status, 201, "created")
    answer = admin.call("DELETE", f"{SANDBOXES}/o", {"propagationPolicy": "Foreground"})
    equal(answer.json()["metadata"]["finalizers"], ["foregroundDeletion"], "finalizers")
    watch.wait(lambda events: events and events[-1]["type"] == "DELETED")
    gone = Watch(server, f"{SANDBOXES}?watch=true")
    gone.wait(lambda events: not any(e["type"] == "ADDED" for e in events) or events[-1]["type"] == "DELETED")
    equal(admin.get(f"{SANDBOXES}/o").status, 404, "the owner")
    watch.client.close()
    gone.client.close()


@case("a namespace goes with all that is in it")
def _(server):
    admin = server.client()
    watch = Watch(server, "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dgoing")
    equal(admin.post("/api/v1/namespaces", {"kind": "Namespace", "apiVersion": "v1",
                                            "metadata": {"name": "going"}}).status, 201, "created")
    equal(admin.post("/api/v1/namespaces/going/secrets", secret("s")).status, 201, "content")
    equal(admin.call("DELETE", "/api/v1/namespaces/going").status, 200, "deletion")
    watch.wait(lambda events: events[-1]["type"] == "DELETED")
    equal(admin.get("/api/v1/namespaces/going/secrets/s").status, 404, "content")
    watch.client.close()


@case("a watch goes on across a restart from the version that it had")
def _(server):
    admin = server.client()
    first = admin.post(SECRETS, secret("before")).json()["metadata"]["resourceVersion"]
    equal(admin.merge(f"{SECRETS}/before", {"metadata": {"labels": {"x": "1"}}}).status, 200, "change")
    equal(admin.call("DELETE", f"{SECRETS}/before").status, 200, "deletion")
    watch = Watch(server, f"{SECRETS}?watch=true")
    equal(server.end(), 0, "exit status")
    watch.wait_over()  # a watch ends well when the server does
    server.start()
    again = Watch(server, f"{SECRETS}?watch=true&resourceVersion={first}")
    again.wait(lambda events: len(events) >= 2)
    equal(again.words()[:2], [("MODIFIED", "before"), ("DELETED", "before")], "events")
    again.client.close()


@case("what was acknowledged is there after kill -9, and no version is given twice", limit_s=180)
def _(server):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    source = random.Random(seed)
    known, versions = set(), []
    for round_ in range(KILLS):
        stop = threading.Event()
        lock = threading.Lock()

        def churn(who, round_=round_, stop=stop, lock=lock):
            client = server.client()
            for i in range(100000):
                name = f"kill-{round_}-{who}-{i}"
                try:
                    answer = client.post(SECRETS, secret(name))
                except (OSError, Exception):  # pylint: disable=broad-except  the server was killed
                    return
                if answer.status == 201:
                    with lock:
                        known.add(name)
                        versions.append(int(answer.json()["metadata"]["resourceVersion"]))
                if stop.is_set():
                    return

        threads = [threading.Thread(target=churn, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        threading.Event().wait(source.uniform(0.2, 1.0))
        server.process.kill()
        server.process.wait()
        stop.set()
        for thread in threads:
            thread.join()
        server.start()
    items = server.client().get(SECRETS).json()["items"]
    missing = known - {item["metadata"]["name"] for item in items}
    true(known, "nothing was acknowledged")
    equal(sorted(missing), [], "acknowledged and missing")
    equal(len(versions), len(set(versions)), "versions given out")
    equal(server.client().call("DELETE", SECRETS).status, 200, "clean-up")


@case("a watcher that does not read holds little memory and nobody else up", limit_s=180)
def _(server):
    slow = server.client()
    answer = slow.open(f"{SECRETS}?watch=true")
    slow.connection.sock and slow.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    before = resident_kib(server)
    admin = server.client()
    for i in range(SLOW_OBJECTS):
        body = {**secret("slow"), "data": {"k": "QUFB" * (SLOW_BYTES // 4)},
                "metadata": {"name": "slow", "annotations": {"i": str(i)}}}
        status = (admin.call("PUT", f"{SECRETS}/slow", body) if i else admin.post(SECRETS, body)).status
        true(status in (200, 201), f"status {status}")
    grown = resident_kib(server) - before
    print(f"resident memory grew by {grown} KiB")
    true(grown < 256 * 1024, f"{grown} KiB more for {SLOW_OBJECTS} events of {SLOW_BYTES // 1024} KiB")
    equal(admin.call("DELETE", f"{SECRETS}/slow").status, 200, "deletion")
    answer.close()
    slow.close()


def resident_kib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class NodeHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lines = [b"first\n"]
    go_on = threading.Event()

    def do_GET(self):
        if "/none/" in self.path or self.path.startswith("/v1/logs/default/quiet/"):
            body = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest",' \
                   b'"message":"container c is waiting to start","code":400}'
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._chunk(f"{self.path}\n".encode())
        if "follow=true" in self.path:
            NodeHandler.go_on.wait(20)
        self._chunk(b"last\n")
        self._chunk(b"")

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *arguments):
        pass

    def address_string(self):
        return "api server"


class NodeServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@case("logs of a pod come from the node as they are written")
def _(server):
    admin = server.client()
    for name in ("p", "quiet"):
        equal(admin.post(PODS, pod(name)).status, 201, "created")
    answer = admin.get(f"{PODS}/p/log")
    equal(answer.status, 503, "without a node")
    equal(answer.json()["reason"], "ServiceUnavailable", "reason")
    node = NodeServer(SOCKET, NodeHandler)
    threading.Thread(target=node.serve_forever, daemon=True).start()
    answer = admin.get(f"{PODS}/p/log?tailLines=5&container=c&pretty=1")
    equal(answer.body, b"/v1/logs/default/p/c?tailLines=5\nlast\n", "log")
    equal(answer.headers["Content-Type"], "text/plain", "type")
    follower = server.client()
    stream = follower.open(f"{PODS}/p/log?follow=true")
    equal(stream.readline(), b"/v1/logs/default/p/c?follow=true\n", "the first line, before the last is there")
    NodeHandler.go_on.set()
    equal(stream.read(), b"last\n", "the rest")
    answer = admin.get(f"{PODS}/quiet/log")
    equal((answer.status, answer.json()["message"]), (400, "container c is waiting to start"), "refusal")
    equal(admin.get(f"{PODS}/p/log?container=other").status, 400, "an unknown container")
    equal(admin.get(f"{PODS}/none/log").status, 404, "an unknown pod")
    equal(admin.post(f"{PODS}/p/exec?command=id", {}).status, 501, "exec")
    node.shutdown()
    node.server_close()
    for name in ("p", "quiet"):
        admin.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")


@case("server-side apply and foreign media types are refused in clear words")
def _(server):
    admin = server.client()
    equal(admin.post(SECRETS, secret("media")).status, 201, "created")
    answer = admin.call("PATCH", f"{SECRETS}/media", {}, "application/apply-patch+yaml")
    equal(answer.status, 415, "apply")
    true("server-side apply" in answer.json()["message"], answer.json()["message"])
    answer = admin.call("PATCH", f"{SANDBOXES}/x", {}, "application/strategic-merge-patch+json")
    equal(answer.status, 415, "strategic merge of a custom kind")
    equal(admin.call("POST", SECRETS, b"a: b", "text/plain").status, 415, "text")
    yaml = b"kind: Secret\napiVersion: v1\nmetadata:\n  name: from-yaml\n"
    equal(admin.call("POST", SECRETS, yaml, "application/yaml").status, 201, "YAML")


@case("secrets are in no log")
def _(server):
    admin = server.client()
    body = {**secret("hidden"), "stringData": {"k": "do-not-log-me"}}
    equal(admin.post(SECRETS, body).status, 201, "created")
    equal(admin.merge(f"{SECRETS}/hidden", {"data": {"k": "not base64: do-not-log-me"}}).status, 422, "refusal")
    with open(server.log, encoding="utf-8") as log:
        true("do-not-log-me" not in log.read(), "a value is in the log")


@case("a store of a newer program is refused and left as it is")
def _(server):
    equal(server.end(), 0, "exit status")
    with sqlite3.connect(server.database) as database:
        database.execute("UPDATE meta SET schema = 99")
    database.close()
    try:
        server.start()
    except AssertionError as error:
        true("layout 99" in str(error), str(error))
    else:
        raise AssertionError("it started")
    equal(server.process.wait(20), 1, "exit status")
    with sqlite3.connect(server.database) as database:
        database.execute("UPDATE meta SET schema = 1")
    database.close()
    server.start()


@case("it ends well")
def _(server):
    equal(server.end(signal.SIGINT), 0, "exit status")


def main():
    server = Server()
    server.start()
    failed = cases.run(server)
    if server.process.poll() is None:
        server.process.kill()
    return 1 if failed else 0


sys.exit(main())
