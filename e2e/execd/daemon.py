# SPDX-License-Identifier: Apache-2.0
"""An execd of our own on loopback, and how the cases speak to it: raw enough to see every byte."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

TIMEOUT_S = 30
TOKEN = "a-token-of-the-tests"
TOKEN_HEADER = "X-EXECD-ACCESS-TOKEN"


def until(condition, limit_s, what):
    """Waits for a condition with a bound; its first true value."""
    end = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {limit_s} s")
        time.sleep(0.01)


class Answer:
    """A whole answer: status, headers (any case), body."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)


class Daemon:
    """A running execd."""

    def __init__(self, program, token=TOKEN, env=None, options=(), popen=None):
        self.folder = tempfile.mkdtemp(dir=os.environ["OSB_TEST_TMP"])
        self.log = os.path.join(self.folder, "log")
        self.token = token
        full_env = dict(os.environ, TMPDIR=self.folder, **(env or {}))
        full_env.pop("EXECD_ACCESS_TOKEN", None)
        if token:
            full_env["EXECD_ACCESS_TOKEN"] = token
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "--address", "127.0.0.1", "--port", "0", *options], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=full_env, cwd=self.folder, **(popen or {}))
        self.port = until(self._read_port, 20, "execd listens")

    def _read_port(self):
        if self.process.poll() is not None:
            raise AssertionError(f"execd ended: {self.read_log()}")
        found = re.search(r'"listening","port":(\d+)', self.read_log())
        return int(found.group(1)) if found else None

    def read_log(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def path(self, *parts):
        """A path in the daemon's own folder."""
        return os.path.join(self.folder, *parts)

    def stop(self):
        """Ends it as a supervisor would; its exit status, after a look at what it said."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("execd does not end on SIGTERM") from None
        log = self.read_log()
        if re.search(r"Sanitizer|runtime error:", log):
            raise AssertionError(f"a sanitizer spoke: {log[:2000]}")
        return status

    # ---- what the kernel says of it ----

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def check_growth(self, before_kib, limit_kib):
        """Memory beside the sanitizer's: only a release build can tell."""
        with open(self.process.args[0], "rb") as program:
            if b"__asan_init" in program.read():
                return
        now = self.rss_kib()
        if now > before_kib + limit_kib:
            raise AssertionError(f"memory grew from {before_kib} to {now} KiB, by more than {limit_kib}")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    # ---- HTTP ----

    def headers(self, more=None):
        headers = {TOKEN_HEADER: self.token} if self.token else {}
        headers.update(more or {})
        return headers

    def open(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def call(self, method, path, body=None, headers=None, query=None):
        """One whole exchange. BODY that is no bytes goes as JSON."""
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if query:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        with contextlib.closing(self.open()) as connection:
            connection.request(method, path, body, self.headers(headers))
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def raw(self, data, limit_s=TIMEOUT_S):
        """Sends DATA as it is and reads until the daemon closes or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=limit_s) as connection:
            connection.sendall(data)
            received = b""
            with contextlib.suppress(socket.timeout, ConnectionResetError):
                while True:
                    piece = connection.recv(65536)
                    if not piece:
                        break
                    received += piece
            return received

    # ---- commands ----

    def run(self, command=None, headers=None, **more):
        """All events of one command; COMMAND is a shell's, argv comes by keyword."""
        request = dict(more)
        if command is not None:
            request["command"] = command
        answer = self.call("POST", "/command", request, headers)
        if answer.status != 200:
            raise AssertionError(f"command: {answer.status} {answer.body!r}")
        return parse_events(answer.body)

    def start(self, command, **more):
        """(connection, answer, id): a command whose events the caller reads."""
        connection = self.open()
        connection.request("POST", "/command", json.dumps(dict(more, command=command)), self.headers())
        answer = connection.getresponse()
        return connection, answer, next(events(answer))["text"]

    def status(self, identity):
        return self.call("GET", "/command/status/" + identity)

    def logs(self, identity, cursor=None):
        query = {} if cursor is None else {"cursor": cursor}
        return self.call("GET", f"/command/{identity}/logs", query=query)

    def wait_finished(self, identity, limit_s=20):
        return until(lambda: (lambda s: None if s["running"] else s)(self.status(identity).json()),
                     limit_s, "the command ends")


def parse_events(body):
    """The events of a whole body, whose framing is checked to the byte."""
    if not body.endswith(b"\n\n"):
        raise AssertionError(f"the stream does not end in LF LF: {body[-80:]!r}")
    parsed = []
    for frame in body[:-2].split(b"\n\n"):
        if not frame.startswith(b"{") or not frame.endswith(b"}") or b"\n" in frame or b"\r" in frame:
            raise AssertionError(f"a frame is no single JSON line: {frame[:80]!r}")
        parsed.append(json.loads(frame))
    for event in parsed:
        if not isinstance(event.get("timestamp"), int):
            raise AssertionError(f"an event without time stamp: {event}")
    return parsed


def events(answer):
    """The events of a stream, as they come."""
    for line in answer:
        if line.strip():
            yield json.loads(line)


def texts(parsed, kind="stdout"):
    return [event["text"] for event in parsed if event["type"] == kind]


def output(parsed):
    return "".join(text if text == "\n" else text + "\n" for text in texts(parsed))


def last(parsed):
    """The terminal event; there must be one, at the end."""
    terminal = [e for e in parsed if e["type"] in ("error", "execution_complete")]
    if len(terminal) != 1 or parsed[-1] is not terminal[0]:
        raise AssertionError(f"terminal events: {terminal}, last: {parsed[-1]}")
    return parsed[-1]


def exit_code(parsed):
    end = last(parsed)
    return 0 if end["type"] == "execution_complete" else int(end["error"]["evalue"])
