# SPDX-License-Identifier: Apache-2.0
"""Every right of the operator's role is taken away in turn: the scenario that needs it fails, with words about
it, and works again when the right is back. A right that no scenario needs is one too many.

run.py STATE PROGRAMS BINARIES LOGS
"""
import http.client
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "e2e/faults"), os.path.join(ROOT, "e2e/lib")]

import cases  # noqa: E402  the paths come first
from cases import case, equal, true  # noqa: E402
from rest import until  # noqa: E402
from world import LIMIT_S, MERGE, NAMESPACE, PODS, SANDBOXES, World, parts  # noqa: E402

OPERATOR_NAMESPACE = "opensandbox-system"
ACCOUNT = "opensandbox-operator"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = {"ClusterRole": f"{RBAC}/clusterroles/{ACCOUNT}",
         "Role": f"{RBAC}/namespaces/{OPERATOR_NAMESPACE}/roles/{ACCOUNT}-leader"}
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{OPERATOR_NAMESPACE}/leases/2fa1c467.opensandbox.io"
SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
EVENTS = f"/api/v1/namespaces/{NAMESPACE}/events"
MARK = {"opensandbox.io/inject": "execd"}
KEY = "k"
# A right that is missing is noticed at once, not after a time-out.
NOTICED_S = 15
# An operator that goes on where it was refused: a few turns of its back-off.
RECOVERED_S = 30


class Rights(World):
    """The operator as the account of its Deployment, with nothing but the role."""

    def start_operator(self, binaries, logs):
        self.binaries, self.logs = binaries, logs
        for name in ("10-namespace.yaml", "20-role.yaml"):
            parts.kubectl(self.state, "apply", "-f", os.path.join(ROOT, "e2e/cluster/manifests", name))
        token = parts.kubectl(self.state, "-n", OPERATOR_NAMESPACE, "create", "token", ACCOUNT).strip()
        with open(self.state.path("admin.kubeconfig"), encoding="utf-8") as file:
            config = json.load(file)
        config["users"][0]["user"] = {"token": token}
        self.kubeconfig = self.state.write("operator.kubeconfig", json.dumps(config))
        self.state.write("operator.toml", '[server]\nhost = "127.0.0.1"\nport = 0\n[kubernetes]\n'
                         f'namespace = "{NAMESPACE}"\nexecd_injection = "shim"\ncreate_wait_seconds = 2\n')
        self.log = os.path.join(logs, "rbac-operator.log")
        self.roles = {kind: self.api.must("GET", path)["rules"] for kind, path in ROLES.items()}
        self.operator = None
        self.restart()
        self.serves()

    def restart(self):
        """Another process: a watch outlives the right to it."""
        if self.operator:
            self.operator.send_signal(signal.SIGKILL)
            self.operator.wait()
            self.api.call("DELETE", LEASE)
        with open(self.log, "wb") as log:
            self.operator = subprocess.Popen(
                [os.path.join(self.binaries, "opensandbox-operator"), "--kubeconfig", self.kubeconfig, "--config",
                 self.state.path("operator.toml"), "--leader-elect", "--leader-elect-retry-period", "500ms"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "OPENSANDBOX_SERVER_API_KEY": KEY, "POD_NAMESPACE": OPERATOR_NAMESPACE})

    def said(self):
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.startswith("{")]

    def serves(self):
        until(lambda: any(line["msg"] == "leading" for line in self.said()), LIMIT_S, "the operator leads")

    def rest(self, method, path, body=None):
        port = until(lambda: next((line["port"] for line in self.said() if line["msg"] == "REST API"), None), LIMIT_S,
                     "the REST API")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, "/v1" + path, json.dumps(body) if body else None,
                               {"OPEN-SANDBOX-API-KEY": KEY, "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def take(self, kind, place, resource, verb):
        """The role without one verb of one resource."""
        rules = json.loads(json.dumps(self.roles[kind]))
        true(rules[place]["resources"] == [resource], "one resource a rule")
        rules[place]["verbs"].remove(verb)
        if not rules[place]["verbs"]:
            del rules[place]
        self.api.must("PATCH", ROLES[kind], {"rules": rules}, MERGE)

    def give_back(self, kind):
        self.api.must("PATCH", ROLES[kind], {"rules": self.roles[kind]}, MERGE)

    def make(self, name, replicas=1, annotations=None, spec=None):
        template = {"metadata": {"annotations": annotations or {}}, "spec": {"containers": [{"name": "sandbox", "image": "i"}]}}
        return self.api.must("POST", SANDBOXES, {
            "apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox",
            "metadata": {"name": name}, "spec": {"replicas": replicas, "template": template, **(spec or {})}})

    def read(self, path):
        status, body = self.api.call("GET", path)
        return body if status == 200 else None

    def has_settled(self, name, replicas=1):
        return lambda: ((self.read(f"{SANDBOXES}/{name}") or {}).get("status") or {}).get("ready") == replicas

    def clear(self):
        if not self.state.pid("controller-manager"):
            self.state.restart("controller-manager")
        for name in [o["metadata"]["name"] for o in self.api.must("GET", SANDBOXES)["items"]]:
            self.api.call("DELETE", f"{SANDBOXES}/{name}")
        until(lambda: not self.api.must("GET", SANDBOXES)["items"], LIMIT_S, "no sandboxes")
        for place in (PODS, SECRETS):
            for made in self.api.must("GET", place)["items"]:
                self.api.call("DELETE", f"{place}/{made['metadata']['name']}", {"gracePeriodSeconds": 0})
        until(lambda: not self.api.must("GET", PODS)["items"], LIMIT_S, "no pods")


# ---- scenarios: each makes what it needs and gives a question whose answer is true when it worked ----

def leads(world):
    return lambda: any(line["msg"] == "leading" for line in world.said())


def renews(world):
    before = world.read(LEASE)
    return lambda: world.read(LEASE)["spec"]["renewTime"] != before["spec"]["renewTime"] if before else \
        "renewTime" in (world.read(LEASE) or {}).get("spec", {}) and leads(world)()


def is_made_by_rest(world):
    status, body = world.rest("POST", "/sandboxes", {"image": {"uri": "i"}, "timeout": 300, "entrypoint": ["x"],
                                                     "resourceLimits": {"cpu": "100m", "memory": "64Mi"}})
    print(status, body)
    return lambda: status == 202


def is_unknown_to_rest(world):
    return lambda: world.rest("GET", "/sandboxes/00000000-0000-4000-8000-000000000000")[0] == 404


def expires(world):
    world.make("s", spec={"expireTime": "2020-01-01T00:00:00Z"})
    return lambda: world.read(f"{SANDBOXES}/s") is None


def has_endpoints(world):
    world.make("s")
    return lambda: "sandbox.opensandbox.io/endpoints" in (world.read(f"{SANDBOXES}/s") or {})["metadata"].get("annotations", {})


def is_ready(world):
    world.make("s")
    return world.has_settled("s")


def follows_by_watches(world):
    """Without one it lists again and again, which works and costs."""
    world.make("s")
    settled = world.has_settled("s")
    return lambda: settled() and not any(line["msg"] == "list or watch failed" for line in world.said())


def is_scaled_down(world):
    world.make("s", 2)
    until(lambda: len(world.api.must("GET", PODS)["items"]) == 2, LIMIT_S, "two pods")
    world.api.must("PATCH", f"{SANDBOXES}/s", {"spec": {"replicas": 1}}, MERGE)
    return lambda: len(world.api.must("GET", PODS)["items"]) == 1


def labels_come_back(world):
    world.make("s")
    pod = until(lambda: world.read(f"{PODS}/s-0"), LIMIT_S, "a pod")
    labels = {name: None for name in pod["metadata"]["labels"]}
    world.api.must("PATCH", f"{PODS}/s-0", {"metadata": {"labels": labels}}, MERGE)
    return lambda: (world.read(f"{PODS}/s-0") or {})["metadata"].get("labels") == pod["metadata"]["labels"]


def names_the_taken_pod(world):
    world.api.must("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "s-0"},
                                  "spec": {"containers": [{"name": "c", "image": "i"}]}})
    world.make("s")
    return lambda: "PodNameTaken" in json.dumps(world.read(f"{SANDBOXES}/s"))


def has_tokens(world):
    world.make("s", annotations=MARK)
    return lambda: world.read(f"{SECRETS}/s-tokens") is not None


def names_the_taken_secret(world):
    world.api.must("POST", SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s-tokens"}})
    world.make("s", annotations=MARK)
    return lambda: "TokensNameTaken" in json.dumps(world.read(f"{SANDBOXES}/s"))


def replaces_old_tokens(world):
    # The cluster's own garbage collector would be faster.
    world.state.stop("controller-manager")
    made = world.api.must("POST", SECRETS, {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s-tokens", "ownerReferences": [
            {"apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox", "name": "s",
             "uid": "of-a-former-one"}]}})
    world.make("s", annotations=MARK)
    return lambda: (world.read(f"{SECRETS}/s-tokens") or made)["metadata"]["uid"] != made["metadata"]["uid"]


def event_count(world):
    return max((e.get("count", 0) for e in world.api.must("GET", EVENTS)["items"]
                if e["involvedObject"].get("kind") == "BatchSandbox"), default=0)


def tells(world):
    world.api.call("DELETE", EVENTS)
    world.make("s")
    return lambda: event_count(world) > 0


def tells_again(world):
    """The same words within minutes are one event with a higher count."""
    world.api.call("DELETE", EVENTS)
    world.make("s")
    for _ in range(2):
        pod = until(lambda: world.read(f"{PODS}/s-0"), LIMIT_S, "a pod")
        world.api.call("DELETE", f"{PODS}/s-0", {"gracePeriodSeconds": 0})
        until(lambda p=pod: (world.read(f"{PODS}/s-0") or p)["metadata"]["uid"] != p["metadata"]["uid"], LIMIT_S,
              "another pod")
    return lambda: event_count(world) > 1


# For each right the scenario that needs it.
NEEDS = {
    ("batchsandboxes", "get"): is_unknown_to_rest,
    ("batchsandboxes", "list"): leads,
    ("batchsandboxes", "watch"): follows_by_watches,
    ("batchsandboxes", "create"): is_made_by_rest,
    ("batchsandboxes", "patch"): has_endpoints,
    ("batchsandboxes", "delete"): expires,
    ("batchsandboxes/status", "patch"): is_ready,
    ("pods", "get"): names_the_taken_pod,
    ("pods", "list"): leads,
    ("pods", "watch"): follows_by_watches,
    ("pods", "create"): is_ready,
    ("pods", "patch"): labels_come_back,
    ("pods", "delete"): is_scaled_down,
    ("secrets", "get"): names_the_taken_secret,
    ("secrets", "create"): has_tokens,
    ("secrets", "delete"): replaces_old_tokens,
    ("events", "create"): tells,
    ("events", "patch"): tells_again,
    ("leases", "get"): leads,
    ("leases", "create"): leads,
    ("leases", "update"): renews,
}


# Nobody asks again for what a caller was refused, an event that was refused is lost, and a log keeps its lines.
NOT_RETRIED = {is_unknown_to_rest, is_made_by_rest, tells, tells_again, follows_by_watches}


def is_said(world, resource, verb):
    """In the words of the API server: who may not do what to which."""
    words = f'cannot {verb} resource "{resource}"'
    in_log = any(words in json.dumps(line).replace('\\"', '"') for line in world.said())
    return in_log or words in json.dumps(world.api.must("GET", EVENTS)).replace('\\"', '"')


def check(kind, place, resource, verb):
    @case(f"without the right to {verb} {resource}: {NEEDS[resource, verb].__name__.replace('_', ' ')} no more, "
          "which is said; with it again it does", limit_s=180)
    def _(world):
        world.take(kind, place, resource, verb)
        try:
            world.restart()
            scenario = NEEDS[resource, verb]
            if scenario is not leads:
                # Where the right is one to lead or to list, it never comes so far.
                until(lambda: leads(world)() or is_said(world, resource, verb), LIMIT_S, "the operator")
            works = scenario(world)
            until(lambda: is_said(world, resource, verb) or works(), NOTICED_S, "the operator said or did something")
            true(is_said(world, resource, verb), f"nothing says that it cannot {verb} {resource}")
            # What was refused stays undone.
            time.sleep(0.3)
            equal(bool(works()), False, "the scenario worked without the right")
            world.give_back(kind)
            if scenario not in NOT_RETRIED:
                until(works, RECOVERED_S, "the same operator goes on with the right")
        finally:
            world.give_back(kind)
            world.clear()
        world.restart()
        world.serves()
        works = NEEDS[resource, verb](world)
        until(works, LIMIT_S, "the scenario works with the right")
        world.clear()


def main():
    world = None
    try:
        world = Rights(*sys.argv[1:5], 0)
        cases.say("ok", "the operator serves and leads with its role and nothing else")
        rights = [(kind, place, resource, verb) for kind, rules in world.roles.items()
                  for place, rule in enumerate(rules) for resource in rule["resources"] for verb in rule["verbs"]]
        unused = [f"{verb} {resource}" for _kind, _place, resource, verb in rights if (resource, verb) not in NEEDS]
        cases.say("not ok" if unused else "ok", "every right of the role is needed by a scenario", ", ".join(unused))
        for right in rights:
            if right[2:] in NEEDS:
                check(*right)
        return cases.run(world) > 0 or bool(unused)
    except Exception as error:  # pylint: disable=broad-except
        cases.say("not ok", "the operator serves and leads with its role and nothing else", repr(error))
        raise
    finally:
        if world:
            world.end()


if __name__ == "__main__":
    sys.exit(main())
