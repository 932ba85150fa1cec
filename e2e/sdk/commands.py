# SPDX-License-Identifier: Apache-2.0
"""What holds of commands in a sandbox."""
import time
from datetime import timedelta

from cases import case, equal, true
from opensandbox.models.execd import RunCommandOpts
from output import EXECD_PID, python, stderr, stdout
from rest import events, open_stream, until


@case("a command's output arrives on its own stream, with exit code 0")
def _(face, sandbox):
    run = sandbox.commands.run("echo out; echo err >&2")
    equal(stdout(run), "out\n", "stdout")
    equal(stderr(run), "err\n", "stderr")
    equal(run.exit_code, 0, "exit code")
    true(run.error is None, f"error: {run.error}")


@case("an exit code comes back as it was")
def _(face, sandbox):
    for code in (1, 7, 127, 255):
        equal(sandbox.commands.run(f"exit {code}").exit_code, code, "exit code")


@case("output that a process writes right before its end is complete")
def _(face, sandbox):
    for _ in range(20):
        run = sandbox.commands.run(python("import os; os.write(1, b'x' * 100000); os._exit(3)"))
        equal(len(stdout(run)), 100000, "bytes")
        equal(run.exit_code, 3, "exit code")


@case("lines arrive in their order")
def _(face, sandbox):
    equal(stdout(sandbox.commands.run("seq 5000")), "".join(f"{i}\n" for i in range(1, 5001)), "lines")


@case("argv is not read by a shell")
def _(face, sandbox):
    equal(stdout(sandbox.commands.run(["printf", "%s|", "a b", "$HOME", "*"])), "a b|$HOME|*|", "stdout")


@case("environment and working directory are the caller's")
def _(face, sandbox):
    opts = RunCommandOpts(envs={"COLOUR": "pale blue"}, working_directory="/tmp")
    equal(stdout(sandbox.commands.run("echo $COLOUR; pwd", opts=opts)), "pale blue\n/tmp\n", "stdout")


@case("a command that takes too long is ended, its children too")
def _(face, sandbox):
    begin = time.monotonic()
    run = sandbox.commands.run("sleep 1234 & sleep 1235", opts=RunCommandOpts(timeout=timedelta(seconds=1)))
    took = time.monotonic() - begin
    true(took < 8, f"took {took:.1f} s")
    true(run.error is not None, "no error event")
    true(run.exit_code != 0, "exit code 0")
    until(lambda: no_process(sandbox, "sleep 123[45]"), 5, "the command's children end")


def no_process(sandbox, pattern):
    found = sandbox.commands.run(
        "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f 2>/dev/null; echo; done | "
        f"grep -E '^{pattern}' || true")
    return stdout(found).strip() == ""


@case("each line is streamed before the next one is written")
def _(face, sandbox):
    # The child waits for the client's acknowledgement of a line before it writes the next.
    lines = []
    tag = f"{face.name}-{time.monotonic_ns()}"

    def acknowledge(message):
        for line in message.text.split():
            lines.append(line)
            sandbox.files.write_file(f"/tmp/ack-{tag}-{line}", "seen")

    run = sandbox.commands.run(python(
        "import os, sys, time\n"
        "for i in range(10):\n"
        "    print(i, flush=True)\n"
        "    end = time.monotonic() + 10\n"
        f"    while not os.path.exists(f'/tmp/ack-{tag}-{{i}}'):\n"
        "        if time.monotonic() > end: sys.exit(9)\n"
        "        time.sleep(0.005)\n"), handlers=face.handlers(on_stdout=acknowledge))
    equal(run.exit_code, 0, "exit code")
    equal(lines, [str(i) for i in range(10)], "lines")


@case("the stream ends with the command, though a child of it holds its output")
def _(face, sandbox):
    begin = time.monotonic()
    run = sandbox.commands.run("sleep 20 & echo done")
    took = time.monotonic() - begin
    equal(stdout(run), "done\n", "stdout")
    equal(run.exit_code, 0, "exit code")
    true(took < 3, f"took {took:.1f} s")


@case("any bytes are output: NUL, invalid UTF-8, very long lines, Unicode line ends")
def _(face, sandbox):
    run = sandbox.commands.run(python(
        "import os\n"
        "os.write(1, b'nul\\0 bad\\xff\\xfe end\\n')\n"
        "os.write(1, 'a\\u0085b\\u2028c\\u2029d\\n'.encode())\n"
        "os.write(1, b'y' * 300000 + b'\\n')\n"
        "os.write(1, b'last\\n')\n"))
    text = stdout(run)
    equal(run.exit_code, 0, "exit code")
    true("nul\0 bad" in text and " end\n" in text, "the bytes around the invalid ones")
    true("a\u0085b\u2028c\u2029d\n" in text, "Unicode line ends")
    true("y" * 300000 in text, "a long line")
    true(text.endswith("last\n"), "what follows")


@case("a background command has a status and its output")
def _(face, sandbox):
    run = sandbox.commands.run("echo begun; sleep 0.3; echo over; exit 4",
                               opts=RunCommandOpts(background=True))
    true(run.id, "no id")
    status = until(lambda: ended(sandbox, run.id), 10, "the command ends")
    equal(status.exit_code, 4, "exit code")
    equal(sandbox.commands.get_background_command_logs(run.id).content, "begun\nover\n", "output")


def ended(sandbox, command_id):
    status = sandbox.commands.get_command_status(command_id)
    return None if status.running else status


@case("an interrupt ends the whole tree of a command")
def _(face, sandbox):
    run = sandbox.commands.run("sleep 2345 & sleep 2346", opts=RunCommandOpts(background=True))
    # The answer comes with the shell, which may not have started them yet.
    until(lambda: not no_process(sandbox, "sleep 234[56]"), 10, "they run")
    sandbox.commands.interrupt(run.id)
    until(lambda: no_process(sandbox, "sleep 234[56]"), 10, "its processes end")
    until(lambda: ended(sandbox, run.id), 10, "its status tells")


@case("a command runs on when its client goes away, and its output stays readable")
def _(face, sandbox):
    connection, answer = open_stream(sandbox, {
        "argv": python("import time\nfor i in range(20):\n    print(i, flush=True)\n    time.sleep(0.05)")})
    first = next(events(answer))
    equal(first["type"], "init", "first event")
    # The answer holds the socket as well.
    answer.close()
    connection.close()
    status = until(lambda: ended(sandbox, first["text"]), 10, "the command ends")
    equal(status.exit_code, 0, "exit code")
    equal(sandbox.commands.get_background_command_logs(first["text"]).content,
          "".join(f"{i}\n" for i in range(20)), "output")


@case("a stream has init first and one terminal event last")
def _(face, sandbox):
    for request, last in (({"command": "echo hi"}, "execution_complete"), ({"command": "exit 3"}, "error")):
        connection, answer = open_stream(sandbox, request)
        kinds = [event["type"] for event in events(answer)]
        connection.close()
        equal(kinds[0], "init", "first event")
        equal(kinds[-1], last, "last event")
        equal(sum(kind in ("execution_complete", "error") for kind in kinds), 1, "terminal events")


@case("execd is started again when it is killed")
def _(face, sandbox):
    before = stdout(sandbox.commands.run(EXECD_PID)).strip()
    true(before, "execd has no process")
    try:
        sandbox.commands.run(f"kill -9 {before}")
    except Exception as error:  # pylint: disable=broad-except
        print(f"the killed stream ended with {error!r}")
    until(sandbox.is_healthy, 15, "execd answers again")
    after = stdout(sandbox.commands.run(EXECD_PID)).strip()
    true(after and after != before, f"still process {after}")
