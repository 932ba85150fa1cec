# SPDX-License-Identifier: Apache-2.0
"""Ten sandboxes at once: each answers a command of its own in time, and nothing of them stays."""
import http.client
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the path comes first
import engine  # noqa: E402
from cases import case, equal, true  # noqa: E402
from rest import call, create_body, events, until  # noqa: E402

COUNT = 10
ANSWER_LIMIT_S = 15
GONE_LIMIT_S = 30
IMAGE = os.environ["OSB_IMAGE"]


def command(sandbox_id, text):
    """The standard output of one command in a sandbox."""
    status, endpoint, _headers = call("GET", f"/sandboxes/{sandbox_id}/endpoints/44772")
    equal(status, 200, "endpoint")
    connection = http.client.HTTPConnection(endpoint["endpoint"], timeout=ANSWER_LIMIT_S)
    connection.request("POST", "/command", json.dumps({"command": text}),
                       {"Content-Type": "application/json", **endpoint.get("headers", {})})
    answer = connection.getresponse()
    equal(answer.status, 200, "command")
    out = "".join(event.get("text", "") for event in events(answer) if event["type"] == "stdout")
    connection.close()
    return out.strip()


def one(number, resources):
    """Creates one and runs a command in it; its id and the seconds it took."""
    body = create_body(IMAGE, metadata={"number": str(number)})
    if resources:
        body["resourceLimits"] = resources
    begin = time.monotonic()
    status, answer, _headers = call("POST", "/sandboxes", body)
    equal(status, 202, f"create: {answer}")
    equal(command(answer["id"], f"echo number {number}"), f"number {number}", "stdout")
    return answer["id"], time.monotonic() - begin


def all_at_once(resources):
    with ThreadPoolExecutor(COUNT) as pool:
        done = list(pool.map(lambda number: one(number, resources), range(COUNT)))
    seconds = sorted(took for _id, took in done)
    print(f"seconds: {', '.join(f'{s:.2f}' for s in seconds)}")
    equal(len({sandbox_id for sandbox_id, _took in done}), COUNT, "ids")
    with ThreadPoolExecutor(COUNT) as pool:
        ends = list(pool.map(lambda pair: call("DELETE", "/sandboxes/" + pair[0])[0], done))
    equal(ends, [204] * COUNT, "deletions")
    true(seconds[-1] <= ANSWER_LIMIT_S, f"the last one took {seconds[-1]:.1f} s")


def nothing_is_left():
    until(lambda: not any(engine.left().values()), GONE_LIMIT_S, "all is gone")


@case(f"{COUNT} small sandboxes at once answer within {ANSWER_LIMIT_S} s")
def _():
    all_at_once(None)


@case("nothing of them is left in API, containerd, CNI and state")
def _():
    nothing_is_left()


@case(f"{COUNT} sandboxes of the SDK's default size at once answer within {ANSWER_LIMIT_S} s")
def _():
    # Limits of more than the machine has: requests are a fraction of them.
    all_at_once({"cpu": "1", "memory": "2Gi"})


@case("nothing of those is left either")
def _():
    nothing_is_left()


if __name__ == "__main__":
    sys.exit(cases.run() > 0)
