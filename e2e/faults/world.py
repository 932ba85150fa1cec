# SPDX-License-Identifier: Apache-2.0
"""A real API server with etcd, a proxy before it, an operator behind that, and a node that is played here."""
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import http.client

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "e2e/cluster/lib"), os.path.join(ROOT, "e2e/lib")]

import parts  # noqa: E402  the paths come first
import pki  # noqa: E402
from proxy import Proxy  # noqa: E402
from rest import until  # noqa: E402
from state import State, run  # noqa: E402

NAMESPACE = "default"
SANDBOXES = f"/apis/sandbox.opensandbox.io/v1alpha1/namespaces/{NAMESPACE}/batchsandboxes"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
LIMIT_S = 60
MERGE = "application/merge-patch+json"


class Api:
    """The API server itself, past the proxy."""

    def __init__(self, state):
        self.address = (state.facts["address"], parts.API_PORT)
        self.context = ssl.create_default_context(cafile=state.path("pki/ca.crt"))
        self.context.load_cert_chain(state.path("pki/admin.crt"), state.path("pki/admin.key"))

    def open(self, method, path, body=None, kind="application/json", timeout=10):
        connection = http.client.HTTPSConnection(*self.address, context=self.context, timeout=timeout)
        connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
        return connection, connection.getresponse()

    def call(self, method, path, body=None, kind="application/json"):
        connection, answer = self.open(method, path, body, kind)
        try:
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def must(self, *arguments):
        status, body = self.call(*arguments)
        if status >= 300:
            raise AssertionError(f"{arguments[:2]}: {status} {body}")
        return body

    def persistent(self, *arguments):
        """For while the server is away: repeated until it has an answer that is not its own trouble."""
        def settled():
            try:
                status, body = self.call(*arguments)
            except (OSError, http.client.HTTPException):
                return None
            return (status, body) if status < 500 and status != 429 else None
        return until(settled, LIMIT_S, arguments[:2])


class Node(threading.Thread):
    """Makes every pod Running and Ready as soon as it is seen, with an address of its own."""

    def __init__(self, api):
        super().__init__(daemon=True)
        self.api = api
        self.made = 0
        self.is_over = False

    def run(self):
        while not self.is_over:
            try:
                for pod in self.api.must("GET", PODS)["items"]:
                    self.look_at(pod)
            except (OSError, http.client.HTTPException, AssertionError):
                pass
            time.sleep(0.1)

    def look_at(self, pod):
        name = pod["metadata"]["name"]
        if "deletionTimestamp" in pod["metadata"]:
            self.api.call("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        elif pod["status"].get("phase") != "Running":
            self.made += 1
            address = f"10.9.{self.made // 250 % 250}.{self.made % 250 + 1}"
            container = {"name": "sandbox", "ready": True, "restartCount": 0, "image": "i", "imageID": "i",
                         "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
            self.api.call("PATCH", f"{PODS}/{name}/status", {"status": {
                "phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "containerStatuses": [container],
                "conditions": [{"type": "Ready", "status": "True"}]}}, MERGE)


class World:
    def __init__(self, folder, programs, binaries, logs, seed):
        self.programs = programs
        self.state = State(folder)
        self.state.create()
        pki.make(self.state)
        parts.hold(self.state)
        parts.etcd(self.state, programs)
        parts.apiserver(self.state, programs)
        parts.controllers(self.state, programs)
        parts.kubectl(self.state, "apply", "-f", os.path.join(ROOT, "apis/crds"))
        self.api = Api(self.state)
        until(lambda: self.api.call("GET", SANDBOXES)[0] == 200, LIMIT_S, "the kinds are served")
        until(lambda: self.api.call("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")[0] == 200,
              LIMIT_S, "the service account")
        pair = [self.state.path(f"pki/apiserver.{end}") for end in ("crt", "key")]
        client = [self.state.path(f"pki/{name}") for name in ("ca.crt", "admin.crt", "admin.key")]
        self.proxy = Proxy(self.api.address, *pair, client, seed)
        self.faults = self.proxy.faults
        self.node = Node(self.api)
        self.node.start()
        self.start_operator(binaries, logs)

    def start_operator(self, binaries, logs):
        kubeconfig = self.state.path("proxied.kubeconfig")
        with open(self.state.path("admin.kubeconfig"), encoding="utf-8") as file:
            config = json.load(file)
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self.proxy.server_port}"
        self.state.write("proxied.kubeconfig", json.dumps(config))
        self.state.write("operator.toml", '[server]\nhost = "127.0.0.1"\nport = 0\n[kubernetes]\n'
                         f'namespace = "{NAMESPACE}"\nexecd_injection = "shim"\n')
        self.log = os.path.join(logs, "faults-operator.log")
        with open(self.log, "wb") as log:
            self.operator = subprocess.Popen(
                [os.path.join(binaries, "opensandbox-operator"), "--kubeconfig", kubeconfig, "--config",
                 self.state.path("operator.toml"), "--leader-elect"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "OPENSANDBOX_SERVER_API_KEY": "k", "POD_NAMESPACE": NAMESPACE})
        until(lambda: b'"leading"' in open(self.log, "rb").read(), LIMIT_S, "the operator leads")

    def end(self):
        self.node.is_over = True
        if hasattr(self, "operator"):
            self.operator.send_signal(signal.SIGTERM)
            self.operator.wait(LIMIT_S)
        run(os.path.join(ROOT, "e2e/cluster/down"), "--state", self.state.folder)

    # ---- what is wanted ----

    def put(self, name, replicas):
        template = {"spec": {"containers": [{"name": "sandbox", "image": "i"}]}}
        status, body = self.api.persistent("POST", SANDBOXES, {
            "apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox", "metadata": {"name": name},
            "spec": {"replicas": replicas, "template": template}})
        if status not in (201, 409):
            raise AssertionError(f"{name}: {status} {body}")

    def scale(self, name, replicas):
        self.api.persistent("PATCH", f"{SANDBOXES}/{name}", {"spec": {"replicas": replicas}}, MERGE)

    def delete(self, name):
        self.api.persistent("DELETE", f"{SANDBOXES}/{name}")

    def unlike(self, wanted):
        """What is not yet as WANTED (name to replicas) says; "" when all is."""
        try:
            objects = {o["metadata"]["name"]: o for o in self.api.must("GET", SANDBOXES)["items"]}
            pods = [p for p in self.api.must("GET", PODS)["items"] if "deletionTimestamp" not in p["metadata"]]
        except (OSError, http.client.HTTPException, AssertionError) as error:
            return repr(error)
        if set(objects) != set(wanted):
            return f"objects {sorted(objects)}, wanted {sorted(wanted)}"
        expected = sorted(f"{name}-{i}" for name, replicas in wanted.items() for i in range(replicas))
        if sorted(p["metadata"]["name"] for p in pods) != expected:
            return f"pods {sorted(p['metadata']['name'] for p in pods)}, wanted {expected}"
        for pod in pods:
            owner = pod["metadata"]["ownerReferences"][0]
            if owner["uid"] != objects[owner["name"]]["metadata"]["uid"]:
                return f"{pod['metadata']['name']} belongs to a former {owner['name']}"
        for name, replicas in wanted.items():
            if objects[name].get("status", {}).get("ready", 0) != replicas:
                return f"{name}: {objects[name].get('status')}, wanted {replicas}"
        return ""

    def settles(self, wanted):
        unlike = [""]

        def is_so():
            unlike[0] = self.unlike(wanted)
            return not unlike[0]
        try:
            until(is_so, LIMIT_S, "all is as wanted")
        except AssertionError:
            raise AssertionError(unlike[0]) from None
