# SPDX-License-Identifier: Apache-2.0
"""What kubectl is answered, word for word: the same session on either engine gives the recorded text.

transcript.py KUBECTL RECORD [--record]

RECORD was written from a real Kubernetes (--record does it again). What differs from one run to the next is
masked; where the embedded engine says the same in other words, OTHERWISE has what both must say.
"""
import difflib
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the path comes first

KUBECTL = sys.argv[1]
RECORD = sys.argv[2]
NS = "transcript"
IMAGE = os.environ["OSB_IMAGE"]
LIMIT_S = 60
MAX_DIFFERENCES = 12

MASKS = [
    (re.escape(IMAGE), "IMAGE"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"(resourceVersion\"?: *)\"?\d+\"?", r"\1VERSION"),
    (r"10\.\d+\.\d+\.\d+", "ADDRESS"),
    (r"(?<![\w.-])(\d+[dhms]){1,2}(?: ago)?(?![\w-])", "AGE"),
    (r"\b(embedded|node)\b", "NODE"),
    # Columns are as wide as what was masked.
    (r"  +", "  "), (r" +$", ""),
]

BSBX = {"apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox",
        "metadata": {"name": "one", "labels": {"team": "blue"}},
        "spec": {"replicas": 1, "template": {"spec": {"terminationGracePeriodSeconds": 1, "containers": [
            {"name": "sandbox", "image": IMAGE, "command": ["sh", "-c", "echo first; echo second; exec sleep infinity"],
             "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}]}}}}
POOL = {"apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "Pool", "metadata": {"name": "warm"},
        "spec": {"capacitySpec": {"bufferMin": 1, "bufferMax": 2, "poolMin": 0, "poolMax": 4},
                 "template": {"spec": {"containers": [{"name": "sandbox", "image": IMAGE}]}}}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "given"}, "stringData": {"word": "open"}}


def changed(made, **paths):
    copy = json.loads(json.dumps(made))
    for path, value in paths.items():
        place = copy
        *folders, last = path.split("__")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return copy


# A text, or (text, standard input). "?" before it waits for success first, so that its moment does not matter.
SESSION = [
    "create namespace transcript",
    "create namespace transcript",
    "get namespace transcript",
    "get namespace transcript -o jsonpath={.status.phase}{.spec.finalizers}",
    "api-resources --api-group=sandbox.opensandbox.io",
    "api-resources --api-group=sandbox.opensandbox.io -o wide",
    "explain batchsandbox.spec.shardPatches",
    "explain pool.spec.capacitySpec --recursive",
    "explain sandboxsnapshot.status",
    "explain batchsandbox.spec.none",
    "get bsbx",
    "get bsbx none",
    "get none",
    ("apply -f -", changed(BSBX, spec__replicas=0)),
    ("apply -f -", changed(BSBX, spec__replicas=0)),
    "get bsbx one -o yaml --show-managed-fields=false",
    ("apply -f -", BSBX),
    ("create -f -", BSBX),
    ("apply -f - --dry-run=server", changed(BSBX, spec__replicas=3)),
    ("create -f - --dry-run=client", changed(BSBX, metadata__name="dry")),
    ("apply -f -", changed(BSBX, spec__replicass=1)),
    ("apply -f -", changed(BSBX, spec__replicas="two")),
    ("create --validate=false -f -", changed(BSBX, metadata__name="bad", spec__replicas="two")),
    ("create --validate=warn -f -", changed(BSBX, metadata__name="warned", spec__replicas=0, spec__replicass=1)),
    ("create -f -", changed(BSBX, metadata__name="Bad_Name")),
    ("create -f -", changed(BSBX, metadata__name="labelled", metadata__labels={"a": "not valid!"})),
    ("create -f -", {"apiVersion": "sandbox.opensandbox.io/v1", "kind": "BatchSandbox", "metadata": {"name": "x"}}),
    ("create -f -", {"apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "None", "metadata": {"name": "x"}}),
    ("create -f -", POOL),
    ("create -f -", changed(POOL, metadata__name="wrong", spec__capacitySpec__bufferMin=-1)),
    "get pools",
    "get pool warm -o jsonpath={.spec.capacitySpec}",
    ("apply -f -", SECRET),
    ("apply -f -", changed(SECRET, stringData__word="shut")),
    "get secret given -o jsonpath={.data.word}{.type}",
    "get secret given",
    "describe secret given",
    "create secret generic made --from-literal=a=b",
    "create secret generic made --from-literal=a=b",
    "patch secret made -p {\"data\":{\"a\":null,\"c\":\"eA==\"}}",
    "patch secret made -p {\"data\":{\"a\":\"***\"}}",
    "get secrets,bsbx -o name",
    "?wait --for=condition=Ready bsbx/one --timeout=60s",
    "?get pods one-0 --no-headers",
    "get bsbx",
    "get bsbx -o wide",
    "get bsbx,pool",
    "get bsbx one -o custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas,READY:.status.ready",
    "get bsbx one -o jsonpath={.status.phase}{.status.ready}{.status.conditions[0].type}",
    "get bsbx one -o go-template={{.metadata.name}}-{{.kind}}",
    "get bsbx -l team=blue -o name",
    "get bsbx -l team!=blue -o name",
    "get bsbx -l team==(",
    "get bsbx --field-selector metadata.name=one -o name",
    "get bsbx --field-selector spec.replicas=1",
    "get bsbx --sort-by=.metadata.name -o name",
    "get bsbx -A --show-labels",
    "get pods --show-kind -o name",
    "get pod one-0 -o jsonpath={.status.phase}{.metadata.ownerReferences[0].kind}{.spec.restartPolicy}{.status.qosClass}",
    "logs one-0",
    "logs one-0 --tail=1",
    "logs one-0 -c none",
    "logs one-0 --previous",
    "logs none",
    "label bsbx one stage=test",
    "label bsbx one stage=prod",
    "label bsbx one stage=prod --overwrite",
    "label bsbx one stage-",
    "label bsbx one =x",
    "annotate bsbx one note=text",
    "annotate bsbx one note-",
    "scale bsbx one --replicas=2",
    "scale bsbx one --replicas=0 --current-replicas=7",
    "scale bsbx one --replicas=0",
    "get --raw /apis/sandbox.opensandbox.io/v1alpha1/namespaces/transcript/batchsandboxes/one/scale",
    "patch bsbx one --type=merge -p {\"spec\":{\"replicas\":\"many\"}}",
    "patch bsbx one --type=json -p [{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":9}]",
    "patch bsbx one --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/none\"}]",
    "patch bsbx one --type=strategic -p {\"spec\":{\"replicas\":1}}",
    "patch bsbx one --type=merge -p {\"metadata\":{\"name\":\"other\"}}",
    "patch bsbx one --type=merge -p {\"metadata\":{\"resourceVersion\":\"1\"}}",
    "patch bsbx one --subresource=status --type=merge -p {\"status\":{\"ready\":\"x\"}}",
    "patch bsbx none --type=merge -p {\"spec\":{\"replicas\":1}}",
    "patch bsbx one --type=merge -p {",
    "get --raw /apis/sandbox.opensandbox.io/v1alpha1/namespaces/transcript/none",
    "get --raw /apis/sandbox.opensandbox.io",
    "get --raw /none",
    "delete pod none",
    "delete bsbx none",
    "delete bsbx none --ignore-not-found",
    "delete bsbx one --dry-run=server",
    "delete bsbx one --timeout=60s",
    "delete secret,pool --all",
    "delete bsbx --all",
    "get bsbx,pool",
    "delete namespace transcript --timeout=60s",
    "get namespace transcript",
]


# Both refuse for the same reason; the embedded engine has words of its own for it, or says less. By a mark in the
# question: what both answers must match.
OTHERWISE = {
    # The cluster repeats the whole object.
    "replicass": r'unknown field "spec.replicass"',
    # The cluster says it twice: its scale subresource cannot read the field either.
    '"replicas": "two"': r'spec.replicas in body must be of type integer: "string"',
    '"replicas":"many"': r'spec.replicas in body must be of type integer: "string"',
    "Bad_Name": r'metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain',
    "not valid!": r'metadata.labels: Invalid value: "not valid!"',
    '"a":"***"': r"illegal base64 data",
    "team==(": r"unable to parse requirement",
    # Here the failed operation is named too.
    '"op":"test"': r"the server rejected our request due to an error in our request",
    '"op":"remove","path":"/spec/none"': r"the server rejected our request due to an error in our request",
    # Server-side apply is not served here.
    "--type=strategic": r"accepted media types include: application/json-patch\+json, application/merge-patch\+json",
    '"ready":"x"': r'status.ready: Invalid value: "string": .*ready in body must be of type integer: "string"',
    "-p {\n": r"Error from server \(BadRequest\): ",
}


def is_same(ours, theirs):
    if ours == theirs:
        return True
    question = theirs.split("\n")[0] + "\n"
    status = theirs.rstrip().rsplit("\n", 1)[-1]
    pattern = next((pattern for mark, pattern in OTHERWISE.items() if mark in question), None)
    if not pattern or status == "[0]" or not ours.startswith(question) or not ours.rstrip().endswith(status):
        return False
    return bool(re.search(pattern, ours) and re.search(pattern, theirs))


def masked(text):
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return text


def arguments_of(line):
    """Words; what begins with { or [ after -p is one word."""
    head, patch, tail = line.partition(" -p ")
    return head.split() + (["-p", tail] if patch else [])


def ask(line, given):
    command = [KUBECTL, "--namespace", NS, "--request-timeout=30s", *arguments_of(line)]
    return subprocess.run(command, input=json.dumps(given) if given else None, capture_output=True, text=True,
                          check=False)


def answer(entry):
    line, given = entry if isinstance(entry, tuple) else (entry, None)
    waits = line.startswith("?")
    line = line.lstrip("?")
    end = time.monotonic() + LIMIT_S
    result = ask(line, given)
    while waits and (result.returncode != 0 or "Running" not in result.stdout + "Running" * ("wait" in line)):
        if time.monotonic() > end:
            break
        time.sleep(0.2)
        result = ask(line, given)
    spec = f" <<< {masked(json.dumps(given))}" if given else ""
    text = f"$ kubectl {line}{spec}\n{result.stdout}{result.stderr}".rstrip("\n")
    return f"{masked(text)}\n[{result.returncode}]\n"


def main():
    subprocess.run([KUBECTL, "delete", "namespace", NS, "--ignore-not-found", "--timeout=60s"], check=False,
                   stdout=sys.stderr)
    answers = [answer(entry) for entry in SESSION]
    if "--record" in sys.argv:
        with open(RECORD, "w", encoding="utf-8") as file:
            file.write("\n".join(answers))
        return 0
    with open(RECORD, encoding="utf-8") as file:
        recorded = file.read().rstrip("\n").split("\n\n$ ")
    recorded = [recorded[0], *("$ " + text for text in recorded[1:])]
    failed = 0
    got = "\n".join(answers).rstrip("\n").split("\n\n$ ")
    got = [got[0], *("$ " + text for text in got[1:])]
    if len(got) != len(recorded):
        cases.say("not ok", "the record is of this session", f"{len(got)} answers, {len(recorded)} recorded")
        return 1
    for ours, theirs in zip(got, recorded):
        if not is_same(ours, theirs):
            failed += 1
            print("\n".join(difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "recorded", "here", lineterm="")))
            print()
    exact = sum(ours == theirs for ours, theirs in zip(got, recorded))
    print(f"{exact} of {len(got)} are the same word for word")
    name = f"{len(got)} answers are those that a real Kubernetes gave"
    cases.say("not ok" if failed else "ok", name, f"{failed} differ" if failed else "")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
