# SPDX-License-Identifier: Apache-2.0
"""Plain HTTP, for what the SDK never sends: other keys, bad bodies, idempotency keys, broken streams."""
import http.client
import json
import os
import time

TIMEOUT_S = 40


def call(method, path, body=None, key=True, headers=None):
    """(status, decoded body or None, headers) of one request to the REST server."""
    connection = http.client.HTTPConnection(os.environ["OPEN_SANDBOX_DOMAIN"], timeout=TIMEOUT_S)
    send = dict(headers or {})
    if key:
        send["OPEN-SANDBOX-API-KEY"] = os.environ["OPEN_SANDBOX_API_KEY"] if key is True else key
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
        send.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, "/v1" + path, body, send)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None, answer.headers
    finally:
        connection.close()


def create_body(image, **more):
    return {"image": {"uri": image}, "timeout": 300, "entrypoint": ["tail", "-f", "/dev/null"],
            "resourceLimits": {"cpu": "100m", "memory": "64Mi"}, **more}


def open_stream(sandbox, request):
    """The connection and the answer of a command whose events the caller reads itself."""
    endpoint = sandbox.get_endpoint(44772)
    connection = http.client.HTTPConnection(endpoint.endpoint, timeout=TIMEOUT_S)
    connection.request("POST", "/command", json.dumps(request),
                       {"Content-Type": "application/json", **endpoint.headers})
    answer = connection.getresponse()
    if answer.status != 200:
        raise AssertionError(f"command: {answer.status} {answer.read()!r}")
    return connection, answer


def events(answer):
    """The events of a stream, as they come."""
    for line in answer:
        if line.strip():
            yield json.loads(line)


def until(condition, limit_s, what):
    """Waits for a condition with a bound; its first true value."""
    end = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {limit_s} s")
        time.sleep(0.05)
