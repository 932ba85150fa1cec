# SPDX-License-Identifier: Apache-2.0
"""What holds of a sandbox's life: its list, its end, its endpoints, and errors."""
import contextlib
import os
import time
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone

from cases import case, equal, true
from faces import IMAGE
from opensandbox.exceptions import SandboxApiException
from opensandbox.models.execd import RunCommandOpts
from opensandbox.models.sandboxes import SandboxFilter
from output import stdout
from rest import call, create_body, until


@contextlib.contextmanager
def made(face, **options):
    sandbox = face.create(**options)
    try:
        yield sandbox
    finally:
        with contextlib.suppress(SandboxApiException):
            sandbox.kill()
        sandbox.close()


def refused(function, status, code):
    """The call must raise the SDK's typed error with this status and one of these codes."""
    try:
        function()
    except SandboxApiException as error:
        print(f"{error.status_code} {error.error.code}: {error}")
        equal(error.status_code, status, "status")
        true(error.error.code in code, f"code {error.error.code}, wanted {code}")
        return error
    raise AssertionError("no error")


@case("a sandbox is Running when create returns, with its data")
def _(face):
    with made(face, metadata={"team": "blue"}, env={"A": "b"}, entrypoint=["sleep", "infinity"]) as sandbox:
        info = sandbox.get_info()
        equal(info.status.state, "Running", "state")
        equal(info.metadata, {"team": "blue"}, "metadata")
        equal(info.entrypoint, ["sleep", "infinity"], "entrypoint")
        true(info.expires_at > datetime.now(timezone.utc), f"expires {info.expires_at}")
        equal(stdout(sandbox.commands.run("echo $A")), "b\n", "environment")


@case("another client connects to it and runs commands")
def _(face):
    with made(face) as sandbox:
        other = face.connect(sandbox.id)
        equal(stdout(other.commands.run("echo there")), "there\n", "stdout")
        other.close()


@case("renewing moves its end")
def _(face):
    with made(face, timeout=timedelta(minutes=2)) as sandbox:
        before = sandbox.get_info().expires_at
        sandbox.renew(timedelta(minutes=30))
        after = until(lambda: later(sandbox, before), 5, "the new end is shown")
        true(after - before > timedelta(minutes=20), f"moved by {after - before}")


def later(sandbox, before):
    now = sandbox.get_info().expires_at
    return now if now > before else None


@case("it goes away by itself when its time is over", limit_s=150)
def _(face):
    with made(face, timeout=timedelta(seconds=60)) as sandbox:
        # The shortest time at creation is a minute; renewing may shorten it.
        sandbox.renew(timedelta(seconds=3))
        until(lambda: gone(face, sandbox.id), 30, "it ends")


def gone(face, sandbox_id):
    manager = face.manager()
    try:
        manager.get_sandbox_info(sandbox_id)
    except SandboxApiException as error:
        return error.status_code == 404
    finally:
        manager.close()
    return False


@case("the list is filtered by metadata and paged")
def _(face):
    tag = f"t{time.monotonic_ns()}"
    manager = face.manager()
    with contextlib.ExitStack() as stack:
        boxes = [stack.enter_context(made(face, metadata={"list": tag, "n": str(i)},
                                          resource={"cpu": "100m", "memory": "64Mi"})) for i in range(3)]
        ids = {box.id for box in boxes}
        seen = []
        for page in (1, 2):
            found = manager.list_sandbox_infos(SandboxFilter(metadata={"list": tag}, page_size=2, page=page))
            seen += [info.id for info in found.sandbox_infos]
            equal(found.pagination.total_items, 3, "total")
            equal(found.pagination.has_next_page, page == 1, "next page")
        equal((len(seen), set(seen)), (3, ids), "ids")
        one = manager.list_sandbox_infos(SandboxFilter(metadata={"list": tag, "n": "1"}))
        equal([info.id for info in one.sandbox_infos], [boxes[1].id], "filtered ids")
        none = manager.list_sandbox_infos(SandboxFilter(metadata={"list": tag}, states=["Paused"]))
        equal(none.sandbox_infos, [], "paused ones")
    manager.close()


@case("metadata is patched key by key")
def _(face):
    with made(face, metadata={"keep": "1", "drop": "2"}) as sandbox:
        equal(sandbox.patch_metadata({"drop": None, "new": "3"}).metadata, {"keep": "1", "new": "3"}, "metadata")


@case("the ports of execd and egress resolve at once, and so does a port of the caller's server")
def _(face):
    with made(face) as sandbox:
        for port in (44772, 18080, 8000):
            true(sandbox.get_endpoint(port).endpoint.endswith(str(port)), f"endpoint of {port}")
        sandbox.commands.run("cd /tmp && echo served >page && exec python3 -m http.server 8000",
                             opts=RunCommandOpts(background=True))
        endpoint = sandbox.get_endpoint(8000)
        equal(until(lambda: page(endpoint), 10, "the server answers"), b"served\n", "page")


def page(endpoint):
    request = urllib.request.Request(f"http://{endpoint.endpoint}/page", headers=endpoint.headers)
    with contextlib.suppress(OSError):
        with urllib.request.urlopen(request, timeout=2) as answer:
            return answer.read()
    return None


@case("a killed sandbox is gone, the second kill is a 404")
def _(face):
    sandbox = face.create()
    sandbox.kill()
    until(lambda: gone(face, sandbox.id), 20, "it is gone")
    refused(sandbox.kill, 404, {"KUBERNETES::SANDBOX_NOT_FOUND"})
    sandbox.close()


@case("a wrong key is a typed 401")
def _(face):
    manager = face.manager(face.config(api_key="wrong"))
    refused(lambda: manager.list_sandbox_infos(SandboxFilter()), 401, {"INVALID_API_KEY"})
    manager.close()


@case("an unknown id is a typed 404")
def _(face):
    manager = face.manager()
    unknown = str(uuid.uuid4())
    for function in (lambda: manager.get_sandbox_info(unknown), lambda: manager.kill_sandbox(unknown),
                     lambda: manager.renew_sandbox(unknown, timedelta(minutes=5))):
        refused(function, 404, {"KUBERNETES::SANDBOX_NOT_FOUND"})
    manager.close()


@case("a bad request is a typed 400 with the reason")
def _(face):
    refused(lambda: face.create(metadata={"opensandbox.io/id": "mine"}), 400,
            {"SANDBOX::INVALID_METADATA_LABEL"})
    refused(lambda: face.create(resource={"cpu": "much", "memory": "64Mi"}), 400,
            {"SANDBOX::INVALID_PARAMETER"})


@case("what is not built says so")
def _(face):
    with made(face) as sandbox:
        try:
            sandbox.pause()
        except SandboxApiException as error:
            equal(error.status_code, 501, "status")
        else:
            raise AssertionError("pause pretended to work")
        equal(sandbox.get_info().status.state, "Running", "state")


@case("an image that cannot be pulled fails the create with the node's reason, and leaves nothing")
def _(face):
    tag = f"t{time.monotonic_ns()}"
    begin = time.monotonic()
    error = refused(lambda: face.create(os.environ["OSB_IMAGE_MISSING"], metadata={"bad": tag}), 500,
                    {"KUBERNETES::POD_FAILED"})
    true("mage" in str(error), f"the message does not name the image: {error}")
    true(time.monotonic() - begin < 29, "took too long")
    equal(listed(tag), [], "left")


def listed(tag):
    status, body, _headers = call("GET", f"/sandboxes?metadata=bad%3D{tag}")
    equal(status, 200, "list")
    return [item["id"] for item in body["items"]]


@case("an entrypoint that ends at once fails the create with its exit code")
def _(face):
    begin = time.monotonic()
    error = refused(lambda: face.create(entrypoint=["sh", "-c", "exit 42"]), 500, {"KUBERNETES::POD_FAILED"})
    true("42" in str(error), f"no exit code in: {error}")
    true(time.monotonic() - begin < 15, "took too long")


@case("a main process that ends later is told: Terminated for 0, Failed with the code otherwise")
def _(face):
    for code, state in ((0, "Terminated"), (9, "Failed")):
        with made(face, entrypoint=["sh", "-c", f"until [ -e /tmp/end ]; do sleep 0.1; done; exit {code}"]) as box:
            box.files.write_file("/tmp/end", "")
            info = until(lambda: ended(face, box.id, state), 15, f"{state} is shown")
            true(str(code) in (info.status.message or ""), f"message {info.status.message!r}")


def ended(face, sandbox_id, state):
    manager = face.manager()
    info = manager.get_sandbox_info(sandbox_id)
    manager.close()
    return info if info.status.state == state else None


@case("the same idempotency key gives the same sandbox, another body is refused")
def _(face):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    body = create_body(IMAGE)
    status, first, _headers = call("POST", "/sandboxes", body, headers=key)
    equal(status, 202, "status")
    try:
        status, second, _headers = call("POST", "/sandboxes", body, headers=key)
        equal((status, second["id"]), (202, first["id"]), "second answer")
        status, error, _headers = call("POST", "/sandboxes", {**body, "timeout": 301}, headers=key)
        equal(status, 409, "another body")
        true(error["code"] and error["message"], f"error {error}")
    finally:
        call("DELETE", "/sandboxes/" + first["id"])
