# SPDX-License-Identifier: Apache-2.0
"""The REST API of whatever operators there are: each shows what another has just done."""
import contextlib
import http.client
import json
import os
import socket
import uuid

import rest
from cases import case, equal, true
from rest import create_body, until
from world import IMAGE, LIMIT_S, rest_addresses

ROUNDS = 10


@contextlib.contextmanager
def at(address):
    """Requests go to the operator at ADDRESS meanwhile."""
    before = os.environ["OPEN_SANDBOX_DOMAIN"]
    os.environ["OPEN_SANDBOX_DOMAIN"] = address
    try:
        yield
    finally:
        os.environ["OPEN_SANDBOX_DOMAIN"] = before


def call(address, *arguments, **options):
    with at(address):
        return rest.call(*arguments, **options)


def listed(address, mark):
    status, body, _headers = call(address, "GET", f"/sandboxes?metadata=mark%3D{mark}")
    equal(status, 200, "list")
    return [item["id"] for item in body["items"]]


@case("what one operator has made, another shows, renews and deletes at once")
def _():
    addresses = rest_addresses()
    true(addresses, "no operator serves")
    for i in range(ROUNDS):
        here, there, third = (addresses[(i + k) % len(addresses)] for k in range(3))
        # No wait for Running: the object is a moment old.
        status, body, _headers = call(here, "POST", "/sandboxes", create_body(IMAGE),
                                      headers={"Prefer": "respond-async"})
        equal(status, 202, "create")
        place = "/sandboxes/" + body["id"]
        status, shown, _headers = call(there, "GET", place)
        equal((status, shown["id"]), (200, body["id"]), "get")
        renewal = {"expiresAt": "2099-01-01T00:00:00Z"}
        equal(call(third, "POST", place + "/renew-expiration", renewal)[0], 200, "renew")
        equal(call(there, "DELETE", place)[0], 204, "delete")
        until(lambda p=place, a=here: call(a, "GET", p)[0] == 404, LIMIT_S, "gone")


@case("the same idempotency key at another operator gives the same sandbox")
def _():
    addresses = rest_addresses()
    key = {"Idempotency-Key": str(uuid.uuid4())}
    answers = [call(address, "POST", "/sandboxes", create_body(IMAGE), headers=key) for address in addresses * 2]
    equal({status for status, _body, _headers in answers}, {202}, "statuses")
    ids = {body["id"] for _status, body, _headers in answers}
    equal(len(ids), 1, "sandboxes")
    equal(call(addresses[-1], "DELETE", "/sandboxes/" + ids.pop())[0], 204, "delete")


@case("a caller that is gone before the answer leaves no sandbox")
def _():
    mark = uuid.uuid4().hex[:12]
    for address in rest_addresses():
        host, _, port = address.partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=LIMIT_S)
        body = json.dumps(create_body(IMAGE, metadata={"mark": mark}))
        connection.request("POST", "/v1/sandboxes", body, {
            "Content-Type": "application/json", "OPEN-SANDBOX-API-KEY": os.environ["OPEN_SANDBOX_API_KEY"]})
        until(lambda a=address: listed(a, mark), LIMIT_S, "the sandbox is listed")
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
        until(lambda a=address: not listed(a, mark), LIMIT_S, "the sandbox goes")
