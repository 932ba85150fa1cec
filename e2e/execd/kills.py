# SPDX-License-Identifier: Apache-2.0
"""DELETE /command: the whole tree of a command ends, and nothing else does."""
import os
import signal
import time

from cases import case, equal, true
from daemon import events, last, until
from processes import alive, kill_all


def start(execd, command):
    """A running command that has printed PIDS lines of process numbers."""
    connection, answer, identity = execd.start(command)
    stream = events(answer)
    return connection, stream, identity


def next_pid(stream):
    return int(next(e for e in stream if e["type"] == "stdout")["text"])


@case("an interrupt ends the command at once, its stream says so, a second one is 500")
def interrupt(execd):
    connection, stream, identity = start(execd, "echo $$; exec sleep 600")
    pid = next_pid(stream)
    begin = time.monotonic()
    answer = execd.call("DELETE", "/command", query={"id": identity})
    equal((answer.status, answer.body), (200, b""))
    true(time.monotonic() - begin < 2, "within the grace")
    true(not alive(pid), "it is gone")
    equal(last(list(stream))["error"]["traceback"], ["signal: terminated"])
    connection.close()
    again = execd.call("DELETE", "/command", query={"id": identity})
    equal((again.status, again.json()["code"]), (500, "RUNTIME_ERROR"))


@case("what ignores TERM is killed after three seconds")
def stubborn(execd):
    connection, stream, identity = start(
        execd, "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 60; done' & wait; while :; do sleep 60; done")
    pid = next_pid(stream)
    begin = time.monotonic()
    equal(execd.call("DELETE", "/command", query={"id": identity}).status, 200)
    took = time.monotonic() - begin
    true(2.9 < took < 4.5, f"took {took:.2f} s")
    true(not alive(pid), "it is gone")
    list(stream)
    connection.close()


@case("descendants that left the group, the session and their parents end too")
def escaped(execd):
    connection, stream, identity = start(
        execd, "(setsid sh -c 'echo $$; exec sleep 601' &); setsid sh -c 'echo $$; sleep 602 & wait' & sleep 603")
    pids = [next_pid(stream), next_pid(stream)]
    equal(execd.call("DELETE", "/command", query={"id": identity}).status, 200)
    for pid in pids:
        until(lambda p=pid: not alive(p), 5, f"{pid} is gone")
    list(stream)
    connection.close()


@case("other commands are not touched")
def others(execd):
    one = start(execd, "echo $$; (setsid sleep 601 &) ; exec sleep 602")
    two = start(execd, "echo $$; exec sleep 603")
    next_pid(one[1])
    other = next_pid(two[1])
    equal(execd.call("DELETE", "/command", query={"id": one[2]}).status, 200)
    true(alive(other), "it lives")
    os.kill(other, signal.SIGKILL)
    for connection, stream, _ in (one, two):
        list(stream)
        connection.close()
    kill_all(execd)


@case("a background command can be interrupted as well")
def background(execd):
    identity = execd.run("exec sleep 605", background=True)[0]["text"]
    equal(execd.call("DELETE", "/command", query={"id": identity}).status, 200)
    equal(execd.status(identity).json()["exit_code"], -1)


@case("an interrupt whose client goes away is carried out all the same")
def lost_client(execd):
    connection, stream, identity = start(execd, "trap '' TERM; echo $$; while :; do sleep 60; done")
    pid = next_pid(stream)
    peer = execd.open()
    peer.request("DELETE", "/command?id=" + identity, headers=execd.headers())
    peer.sock.close()
    peer.close()
    until(lambda: not alive(pid), 8, "it is gone")
    list(stream)
    connection.close()


@case("without an id it is 400, an unknown id is 500")
def bad_ids(execd):
    answer = execd.call("DELETE", "/command")
    equal((answer.status, answer.json()["code"]), (400, "MISSING_QUERY"))
    answer = execd.call("DELETE", "/command", query={"id": "0" * 32})
    equal((answer.status, answer.json()["code"]), (500, "RUNTIME_ERROR"))
