# SPDX-License-Identifier: Apache-2.0
"""BatchSandboxes with a template of their own."""
import base64
import json
from datetime import datetime, timedelta, timezone

from cases import case, equal, true
from rest import until
from world import (EXECD_PORT, IMAGE_MISSING, LIMIT_S, apply, batchsandbox, conditions, container, endpoints, events,
                   gone, kill_operator, must, pods, read, ready, request, status_of)

INJECT = {"opensandbox.io/inject": "execd"}


def later(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def delete(name):
    must("delete", "bsbx", name, "--timeout=60s")


def fails_with(name, *reasons):
    """Waits for a failure of one of these reasons; its message."""
    def has_failed():
        reason, message = conditions(name).get("PodFailed", (None, ""))
        return reason in reasons and (reason, message)
    return until(has_failed, LIMIT_S, f"{name} failed; it is {status_of(name)}")


@case("two replicas get two pods, two endpoints and a status that counts them; deleted, they go with it")
def _():
    apply(batchsandbox("two", 2))
    ready("two", 2)
    made = pods("two")
    equal(sorted(made), ["two-0", "two-1"], "pods")
    equal(endpoints("two"), [made[f"two-{i}"]["status"]["podIP"] for i in range(2)], "endpoints")
    status = status_of("two")
    equal([status.get(key) for key in ("replicas", "allocated", "ready", "phase")], [2, 2, 2, "Succeed"], "status")
    true("Ready" in conditions("two"), "condition Ready")
    delete("two")
    for name in made:
        gone("pod", name)


@case("more replicas get more pods, fewer lose the highest indexes, none loses all")
def _():
    apply(batchsandbox("scaled"))
    ready("scaled", 1)
    first = pods("scaled")["scaled-0"]["metadata"]["uid"]
    for replicas in (3, 2, 0, 1):
        must("scale", "bsbx/scaled", f"--replicas={replicas}")
        until(lambda n=replicas: len(pods("scaled")) == n, LIMIT_S, f"{replicas} pods")
        equal(sorted(pods("scaled")), [f"scaled-{i}" for i in range(replicas)], "indexes")
        if replicas in (3, 2):
            equal(pods("scaled")["scaled-0"]["metadata"]["uid"], first, "the first pod stays")
    ready("scaled", 1)
    delete("scaled")


@case("a shard patch changes the pod of its index and no other")
def _():
    patch = {"metadata": {"labels": {"shard": "second"}},
             "spec": {"containers": [{"name": "sandbox", "env": [{"name": "SHARD", "value": "1"}]}]}}
    apply(batchsandbox("shards", 2, shardPatches=[{}, patch]))
    ready("shards", 2)
    made = pods("shards")
    equal([made[f"shards-{i}"]["metadata"].get("labels", {}).get("shard") for i in range(2)], [None, "second"], "labels")
    equal([made[f"shards-{i}"]["spec"]["containers"][0].get("env") for i in range(2)],
          [None, [{"name": "SHARD", "value": "1"}]], "environment")
    delete("shards")


@case("a pod that is deleted by hand is made again, and its address takes the old one's place")
def _():
    apply(batchsandbox("replaced", 2))
    ready("replaced", 2)
    old = pods("replaced")["replaced-0"]["metadata"]["uid"]
    other = pods("replaced")["replaced-1"]["metadata"]["uid"]
    must("delete", "pod", "replaced-0", "--wait=false")

    def is_new():
        pod = pods("replaced").get("replaced-0")
        return pod and pod["metadata"]["uid"] != old and pod["status"].get("podIP")
    address = until(is_new, LIMIT_S, "another pod")
    until(lambda: endpoints("replaced")[0] == address, LIMIT_S, f"endpoint {address}")
    ready("replaced", 2)
    equal(pods("replaced")["replaced-1"]["metadata"]["uid"], other, "the other pod stays")
    delete("replaced")


@case("what expires goes with its pods; what was renewed in time stays")
def _():
    apply(batchsandbox("short", expireTime=later(12)))
    apply(batchsandbox("renewed", expireTime=later(12)))
    ready("renewed")
    must("patch", "bsbx", "renewed", "--type=merge", "-p", json.dumps({"spec": {"expireTime": later(600)}}))
    gone("bsbx", "short")
    gone("pod", "short-0")
    true(read("bsbx", "renewed"), "the renewed one")
    delete("renewed")


@case("an image that is not there fails with the node's reason, and the others of the cluster go on")
def _():
    apply(batchsandbox("noimage", pod={"containers": [container(image=IMAGE_MISSING)]}))
    _reason, message = fails_with("noimage", "ErrImagePull", "ImagePullBackOff")
    true(IMAGE_MISSING.rpartition("/")[2] in message, f"the message does not name the image: {message}")
    delete("noimage")


@case("a container that ends is told with its exit code where it is not to be started again")
def _():
    pod = {"restartPolicy": "Never", "containers": [container(command=["sh", "-c", "exit 42"])]}
    apply(batchsandbox("ended", pod=pod))
    reason, message = fails_with("ended", "Error")
    true("42" in message, f"no exit code: {reason} {message}")
    delete("ended")


@case("a container that takes more memory than it may is told as OOMKilled")
def _():
    hungry = container(command=["python3", "-c", "x = bytearray(256 * 1024 * 1024)\nprint(len(x))"])
    apply(batchsandbox("hungry", pod={"restartPolicy": "Never", "containers": [hungry]}))
    fails_with("hungry", "OOMKilled")
    delete("hungry")


@case("a template that asks for execd gets it: the Secret first, no answer without its token")
def _():
    apply(batchsandbox("asked", template_annotations=INJECT))
    ready("asked")
    address = endpoints("asked")[0]
    equal(request(address, EXECD_PORT, "GET", "/ping")[0], 200, "ping")
    secret = read("secret", "asked-tokens")
    token = base64.b64decode(secret["data"]["execd"]).decode()
    made = pods("asked")["asked-0"]
    true(secret["metadata"]["creationTimestamp"] <= made["metadata"]["creationTimestamp"], "the Secret is older")
    body = json.dumps({"command": "echo $((6 * 7))"})
    headers = {"Content-Type": "application/json"}
    equal(request(address, EXECD_PORT, "POST", "/command", body, headers)[0], 401, "without a token")
    headers["X-EXECD-ACCESS-TOKEN"] = token
    status, text = request(address, EXECD_PORT, "POST", "/command", body, headers)
    true(status == 200 and b'"42' in text, f"command: {status} {text}")
    true(token not in json.dumps(made) + json.dumps(read("bsbx", "asked")), "the token is in no object but its Secret")
    delete("asked")
    gone("secret", "asked-tokens")


@case("what the operator cannot do yet is said on the object, and nothing is made")
def _():
    unbuilt = {"pooled": {"poolRef": "warm"}, "tasks": {"taskTemplate": {"spec": {"process": {"command": ["true"]}}}}}
    for name, spec in unbuilt.items():
        made = batchsandbox(name, **spec)
        if "poolRef" in spec:
            del made["spec"]["template"]
        apply(made)
        until(lambda n=name: any(c[0].startswith("Unsupported") for c in conditions(n).values()), LIMIT_S,
              f"{name} is said to be unsupported; it is {conditions(name)}")
        equal(pods(name), {}, "pods")
        delete(name)


@case("a template that no pod can be made of is told, and passes when it is mended")
def _():
    wrong = batchsandbox("wrong", pod={"containers": [container(name="Not A Name")]})
    apply(wrong)
    until(lambda: "PodFailed" in conditions("wrong"), LIMIT_S, "a failure")
    true(any(kind == "Warning" for kind, _reason, _message in events("wrong")), "a warning")
    wrong["spec"]["template"]["spec"]["containers"][0]["name"] = "sandbox"
    apply(wrong)
    ready("wrong")
    equal("PodFailed" in conditions("wrong"), False, "the failure goes")
    delete("wrong")


@case("what somebody wrote into annotations of one object disturbs no other")
def _():
    odd = {"sandbox.opensandbox.io/endpoints": "{not json", "sandbox.opensandbox.io/alloc-status": "[1,",
           "opensandbox.io/pod-uids": "17", "opensandbox.io/replaced-pods": "many"}
    apply(batchsandbox("odd", annotations=odd))
    apply(batchsandbox("even"))
    ready("even")
    ready("odd")
    equal(len(endpoints("odd")), 1, "endpoints are written anew")
    delete("odd")
    delete("even")


@case("a name that is free again gives another sandbox, with nothing of the first")
def _():
    apply(batchsandbox("again", template_annotations=INJECT))
    ready("again")
    first = read("secret", "again-tokens")["data"]["execd"]
    uid = pods("again")["again-0"]["metadata"]["uid"]
    must("delete", "bsbx", "again", "--wait=false")
    until(lambda: read("bsbx", "again") is None, LIMIT_S, "gone")
    apply(batchsandbox("again", template_annotations=INJECT))
    ready("again")
    true(read("secret", "again-tokens")["data"]["execd"] != first, "another token")
    true(pods("again")["again-0"]["metadata"]["uid"] != uid, "another pod")
    delete("again")


@case("an operator that is killed while replicas change doubles no pod and forgets none")
def _():
    for replicas in (1, 4, 2, 3):
        apply(batchsandbox("shaken", replicas))
        kill_operator()
        until(lambda n=replicas: status_of("shaken").get("ready") == n == len(pods("shaken")), LIMIT_S,
              f"{replicas} pods; there are {sorted(pods('shaken'))}, {status_of('shaken')}")
        equal(sorted(pods("shaken")), [f"shaken-{i}" for i in range(replicas)], "pods")
    delete("shaken")


@case("events tell what was made")
def _():
    apply(batchsandbox("told"))
    ready("told")
    until(lambda: any(reason == "SuccessfulCreate" for _kind, reason, _message in events("told")), LIMIT_S,
          f"an event; there are {events('told')}")
    delete("told")
