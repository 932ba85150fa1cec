# SPDX-License-Identifier: Apache-2.0
"""What a command is started with, how it ends, and what is known of it afterwards."""
import json
import os
import re
import signal
import time

from cases import Skip, case, equal, true
from daemon import Daemon, TOKEN, events, exit_code, last, output, texts, until
from processes import alive, make_fifo


@case("the stream has its headers, init first, a ping at once, one terminal event last")
def shape(execd):
    answer = execd.call("POST", "/command", {"command": "echo hi"})
    equal(answer.headers["Content-Type"], "text/event-stream")
    equal(answer.headers["Cache-Control"], "no-cache")
    equal(answer.headers["X-Accel-Buffering"], "no")
    equal(answer.headers["Transfer-Encoding"], "chunked")
    parsed = execd.run("echo hi")
    equal([e["type"] for e in parsed], ["init", "ping", "stdout", "execution_complete"])
    true(re.fullmatch(r"[0-9a-f]{32}", parsed[0]["text"]), "the id")
    equal(parsed[1]["text"], "pong")
    true(abs(parsed[0]["timestamp"] - time.time() * 1000) < 60000, "milliseconds of now")
    true("execution_time" not in parsed[-1] or parsed[-1]["execution_time"] > 0, "no zero time")


@case("the events of a quick command and the final chunk leave in one piece")
def one_flush(execd):
    body = b'{"command":"echo hi"}'
    received = execd.raw(b"POST /command HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                         b"X-EXECD-ACCESS-TOKEN: %s\r\nContent-Length: %d\r\n\r\n%s" % (
                             TOKEN.encode(), len(body), body))
    true(received.endswith(b"}\n\n\r\n0\r\n\r\n"), repr(received[-60:]))


@case("exit codes: 0, 7, 127, killed, time-out, and a program that is not there")
def endings(execd):
    equal(exit_code(execd.run("true")), 0)
    failed = last(execd.run("exit 7"))
    equal(failed["error"], {"ename": "CommandExecError", "evalue": "7", "traceback": ["exit status 7"]})
    equal(exit_code(execd.run("no_such_program_at_all")), 127)
    killed = last(execd.run("kill -KILL $$"))["error"]
    equal((killed["evalue"], killed["traceback"]), ("-1", ["signal: killed"]))
    equal(last(execd.run("kill -TERM $$"))["error"]["traceback"], ["signal: terminated"])
    parsed = execd.run(argv=["/no/such/program"])
    equal([e["type"] for e in parsed], ["init", "ping", "error"])
    equal(execd.status(parsed[0]["text"]).status, 404)


@case("a time-out kills the whole group at once and says so")
def timeout(execd):
    start = time.monotonic()
    parsed = execd.run("trap '' TERM; sleep 987 & echo $!; sleep 988", timeout=300)
    true(time.monotonic() - start < 5, "at once")
    error = last(parsed)["error"]
    equal(error["evalue"], "-1")
    true("killed" in error["traceback"][0] and "300" in error["traceback"][0], error)
    child = int(texts(parsed)[0])
    until(lambda: not alive(child), 5, "the background child is gone too")


@case("argv starts a program without a shell, found in the final PATH, nothing expanded")
def argv(execd):
    equal(texts(execd.run(argv=["printf", "%s|", "a b", "$HOME", "*", ""])), ["a b|$HOME|*||"])
    os.makedirs(execd.path("bin"), exist_ok=True)
    program = execd.path("bin", "mine")
    with open(program, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho mine $0\n")
    os.chmod(program, 0o755)
    equal(exit_code(execd.run(argv=["mine"], envs={"PATH": execd.path("bin") + ":" + os.environ["PATH"]})), 0)
    equal(exit_code(execd.run(argv=["./mine"], cwd=execd.path("bin"))), 0)
    equal(last(execd.run(argv=["mine"]))["type"], "error")


@case("the working directory is expanded with all layers of variables and must be one")
def working_directory(execd):
    os.makedirs(execd.path("work"), exist_ok=True)
    equal(texts(execd.run("pwd; echo $PWD", cwd=execd.path("work"))), [execd.path("work")] * 2)
    equal(texts(execd.run("pwd", cwd="$WHERE/work", envs={"WHERE": execd.folder})), [execd.path("work")])
    equal(texts(execd.run("pwd")), [execd.folder])


@case("variables: the process's, then the file's, then the request's; the file is read each time")
def variables(execd):
    with open(execd.path_of_variables, "w", encoding="utf-8") as file:
        file.write("# comment\nFROM_FILE=file $LAYER\nQUOTED='it is $LAYER'\nDOUBLE=\"a\\nb\"\nBOTH=file\n")
    parsed = execd.run('echo "$LAYER|$FROM_FILE|$QUOTED|$BOTH"; printf %s "$DOUBLE"', envs={"BOTH": "request"})
    equal(texts(parsed), ["process|file process|it is $LAYER|request", "a", "b"])
    with open(execd.path_of_variables, "a", encoding="utf-8") as file:
        file.write("FROM_FILE=second\n")
    equal(texts(execd.run("echo $FROM_FILE")), ["second"])


@case("execd's own variables and its token are not in a command's environment nor in /proc")
def secrets(execd):
    environment = output(execd.run("env"))
    for name in ("EXECD_ACCESS_TOKEN", "JUPYTER_TOKEN", "EXECD_RUNTIME_INIT", TOKEN):
        true(name not in environment, f"{name} in a command's environment")
    true("EXECD_ENVS=" in environment, "clients find the variables file")
    for file in ("environ", "cmdline"):
        with open(f"/proc/{execd.process.pid}/{file}", "rb") as content:
            true(TOKEN.encode() not in content.read(), f"the token in /proc/PID/{file}")


@case("execd's memory is not readable for other programs of its user")
def memory(execd):
    if os.getuid() != 0:
        raise Skip("needs root to look at another user's process")
    equal(os.stat(f"/proc/{execd.process.pid}/environ").st_uid, 0, "owner of a process that cannot be dumped")
    parsed = execd.run(f"cat /proc/{execd.process.pid}/environ >/dev/null", uid=65534)
    true(exit_code(parsed) != 0, "another user reads it")


@case("signals have their defaults, none is blocked, the limit of descriptors is as given, whatever execd has")
def signals(execd):
    # execd itself was started with INT and QUIT ignored.
    parsed = execd.run("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status")
    values = {line.split(":")[0]: int(line.split()[1], 16) for line in texts(parsed)}
    equal((values["SigBlk"], values["SigIgn"]), (0, 0))
    equal(texts(execd.run("ulimit -Sn")), ["256"])
    equal(last(execd.run("kill -INT $$; sleep 1"))["error"]["traceback"], ["signal: interrupt"])


@case("standard input is empty, and the command is its own process group, not a session")
def surroundings(execd):
    equal(texts(execd.run("cat; echo end")), ["end"])
    group, session, pid = texts(execd.run("ps -o pgid=,sid=,pid= -p $$"))[0].split()
    equal(group, pid)
    true(session != pid, "no session of its own")
    equal(texts(execd.run("ls -l /proc/self/fd | wc -l")), ["5"])


@case("uid and gid: with the account's groups, or the number as group; gid alone is refused")
def identity(execd):
    if os.getuid() != 0:
        raise Skip("needs root")
    equal(texts(execd.run("id -u; id -g; id -G", uid=65534)), ["65534", "65534", "65534"])
    equal(texts(execd.run("id -u; id -g; id -G", uid=12345)), ["12345"] * 3)
    equal(texts(execd.run("id -u; id -g", uid=12345, gid=54321)), ["12345", "54321"])
    equal(texts(execd.run("id -u", uid=0, gid=0)), ["0"])


@case("status shows command, times and end, of running and finished commands")
def status(execd):
    connection, answer, identity_ = execd.start("echo go; read -r _ < fifo; exit 5", cwd=make_fifo(execd))
    running = execd.status(identity_).json()
    equal(running["running"], True)
    true("exit_code" not in running and "finished_at" not in running, running)
    open(execd.path("fifo"), "w", encoding="ascii").write("\n")
    list(events(answer))
    connection.close()
    done = execd.status(identity_).json()
    equal((done["running"], done["exit_code"], done["error"]), (False, 5, "exit status 5"))
    equal(done["content"], "echo go; read -r _ < fifo; exit 5")
    true(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", done["finished_at"]), done)
    parsed = execd.run(argv=["true"])
    equal(json.loads(execd.status(parsed[0]["text"]).json()["content"]), ["true"])
    equal(execd.status("0" * 32).status, 404)


@case("a background command: the stream ends at once, status is there, logs come by cursor")
def background(execd):
    parsed = execd.run("echo one; echo two >&2; read -r _ < fifo; echo three; exit 3", background=True,
                       cwd=make_fifo(execd))
    equal([e["type"] for e in parsed], ["init", "ping", "execution_complete"])
    identity_ = parsed[0]["text"]
    equal(execd.status(identity_).json()["running"], True)
    until(lambda: execd.logs(identity_).body == b"one\ntwo\n", 10, "the first output")
    cursor = execd.logs(identity_).headers["EXECD-COMMANDS-TAIL-CURSOR"]
    equal(cursor, "8")
    open(execd.path("fifo"), "w", encoding="ascii").write("\n")
    equal(execd.wait_finished(identity_)["exit_code"], 3)
    more = execd.logs(identity_, cursor)
    equal((more.body, more.headers["EXECD-COMMANDS-TAIL-CURSOR"]), (b"three\n", "14"))
    past = execd.logs(identity_, 99999)
    equal((past.body, past.headers["EXECD-COMMANDS-TAIL-CURSOR"]), (b"", "14"))
    equal(execd.logs(identity_, "x").body, b"one\ntwo\nthree\n")
    equal(execd.logs(identity_, -1).status, 400)
    equal(execd.logs("0" * 32).status, 400)


@case("children that a finished background command leaves behind live on")
def background_children(execd):
    parsed = execd.run("sleep 300 & echo $!", background=True)
    execd.wait_finished(parsed[0]["text"])
    child = int(execd.logs(parsed[0]["text"]).body)
    true(alive(child), "it lives")
    os.kill(child, signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{child}"), 5, "execd reaps it")


@case("a background command that cannot start says so in one error event and in its status")
def background_failure(execd):
    parsed = execd.run(argv=["/no/such"], background=True)
    equal(parsed[-1]["type"], "error")
    equal(execd.status(parsed[0]["text"]).json()["exit_code"], 255)


@case("line ends stay in the texts for the Python SDK 1.1 and newer, and by option")
def line_ends(execd):
    agent = {"User-Agent": "OpenSandbox-Python-SDK/1.1.1"}
    equal(texts(execd.run("printf 'a\\n\\nb'", agent)), ["a\n", "\n", "b"])
    equal(texts(execd.run("printf 'a\\n\\nb'", {"User-Agent": "OpenSandbox-Python-SDK/1.0.3"})), ["a", "\n", "b"])
    for mode, wanted in (("keep", ["x\n"]), ("strip", ["x"])):
        for how in ({"options": ["--output-newlines", mode]}, {"env": {"EXECD_OUTPUT_NEWLINES": mode}}):
            other = Daemon(execd.process.args[0], token=None, **how)
            equal(texts(other.run("echo x", agent)), wanted)
            equal(other.stop(), 0)


@case("metrics: keys and bounds, at once; the watch sends one object a second between empty lines")
def metrics(execd):
    begin = time.monotonic()
    sample = execd.call("GET", "/metrics").json()
    true(time.monotonic() - begin < 0.5, "at once")
    check_sample(sample)
    connection = execd.open()
    connection.request("GET", "/metrics/watch", headers=execd.headers())
    answer = connection.getresponse()
    equal(answer.headers["Content-Type"], "text/event-stream")
    for _ in range(2):
        check_sample(json.loads(answer.readline()))
        equal(answer.readline(), b"\n")
    connection.close()


def check_sample(sample):
    equal(sorted(sample), ["cpu_count", "cpu_used_pct", "mem_total_mib", "mem_used_mib", "timestamp"])
    true(sample["cpu_count"] > 0 and 0 <= sample["cpu_used_pct"] <= 100, sample)
    true(0 < sample["mem_used_mib"] <= sample["mem_total_mib"], sample)
    true(abs(sample["timestamp"] - time.time() * 1000) < 60000, sample)
