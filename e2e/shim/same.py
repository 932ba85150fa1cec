# SPDX-License-Identifier: Apache-2.0
"""The same calls say the same, direct and through the shim."""
import re

from cases import case, equal, true
from world import BASE, REGISTRY, SOCKET, container_file, crictl, pod_file

UNKNOWN = "0" * 64
# What differs between two runs of the same thing, whoever carries them.
VARYING = [
    (r"\b[0-9a-f]{64}\b", "ID"), (r"\b[0-9a-f]{13}\b", "ID"), (r"\b[0-9a-f]{16}\b", "ID"),
    (r"10\.89\.\d+\.\d+", "IP"), (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "TIME"),
    (r"\b1[678]\d{17}\b", "NANOSECONDS"), (r'("pid"): \d+', r"\1: PID"), (r"/proc/\d+/", "/proc/PID/"),
    (r"cni-[0-9a-f-]+", "cni-ID"), (r"\b(Less than a second|\d+ seconds?) ago", "AGO"), (r"([0-9a-f]{2}:){5}[0-9a-f]{2}", "MAC"),
    (r"veth[0-9a-f]+", "VETH"), (r"\.sock\b[^ \"]*", ".sock"), (r"/[a-z]+\.sock", "/SOCKET"), (r"\b[EWIF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", ""), (r" +", " "),
]
NUMBERS = [(r"\d+(\.\d+)?(kB|B|MB)?", "N")]


# Where numbers are masked too: one of thirteen digits is no ID.
AMONG_NUMBERS = [(pattern.replace(r"\b[0-9a-f]{", r"\b(?=\d*[a-f])[0-9a-f]{"), word) for pattern, word in VARYING]


def plain(text, also=()):
    for pattern, word in [*(AMONG_NUMBERS if also else VARYING), *also]:
        text = re.sub(pattern, word, text)
    return text


class Way:
    """One of the two ways, with what its calls said so far."""

    def __init__(self, socket):
        self.socket, self.said = socket, []

    def ask(self, *arguments, also=()):
        answer = crictl(self.socket, *arguments)
        words = " ".join(plain(word) for word in arguments)
        self.said.append((words, answer.status, plain(answer.out, also), plain(answer.err, also)))
        return answer


def life_of_a_pod(socket):
    """From the version to the last removal, and what fails on the way."""
    way = Way(socket)
    pod, container = pod_file("same"), container_file("main", ["sh", "-c", "echo one; echo two >&2; sleep 1000"])
    way.ask("version")
    way.ask("info")
    way.ask("pull", BASE)
    way.ask("inspecti", "-o", "json", BASE)
    way.ask("images")
    way.ask("imagefsinfo", "-o", "json", also=NUMBERS)
    sandbox = way.ask("runp", pod).must().text
    way.ask("runp", pod)  # the name is taken
    way.ask("inspectp", "-o", "json", sandbox)
    way.ask("pods", "--no-trunc")
    made = way.ask("create", sandbox, container, pod).must().text
    way.ask("start", made).must()
    way.ask("start", made)  # it runs already
    way.ask("ps", "-a")
    way.ask("inspect", "-o", "json", made)
    for command in (["echo", "text"], ["sh", "-c", "echo bad >&2; exit 3"], ["no-such-program"]):
        way.ask("exec", made, *command)
        way.ask("exec", "--sync", made, *command)
    way.ask("exec", "--sync", "--timeout", "1", made, "sleep", "100")
    way.ask("logs", made)
    way.ask("stats", "-o", "json", also=NUMBERS)
    way.ask("statsp", "-o", "json", also=NUMBERS)
    way.ask("update", "--cpu-share", "512", made)
    way.ask("stop", "--timeout", "1", made)
    way.ask("inspect", "-o", "json", made)
    way.ask("rm", made)
    way.ask("stopp", sandbox)
    way.ask("rmp", sandbox)
    way.ask("pods")
    return way.said


def failures(socket):
    way = Way(socket)
    way.ask("pull", f"{REGISTRY}/missing:1")
    way.ask("pull", "127.0.0.1:1/nobody:1")
    way.ask("inspect", UNKNOWN)
    way.ask("inspectp", UNKNOWN)
    way.ask("start", UNKNOWN)
    way.ask("stop", UNKNOWN)
    way.ask("exec", "--sync", UNKNOWN, "true")
    way.ask("rmi", f"{REGISTRY}/missing:1")
    way.ask("checkpoint", "--export", "/nowhere", UNKNOWN)
    way.ask("metricsp")
    way.ask("events")  # a stream, which containerd 1.6 does not have
    way.ask("runp", "--runtime", "nonesuch", pod_file("refused"))
    return way.said


def compare(shim, calls):
    direct, through = calls(SOCKET), calls(shim.socket)
    equal(len(through), len(direct), "number of calls")
    for wanted, got in zip(direct, through):
        equal(got, wanted, wanted[0])
    return direct


@case("a pod's life says the same direct and through the shim, call by call", limit_s=300)
def _(shim, _seed):
    said = compare(shim, life_of_a_pod)
    true(any(status == 0 for _, status, _, _ in said), "calls succeed")


@case("calls that fail say the same, with the runtime's own words")
def _(shim, _seed):
    said = compare(shim, failures)
    true(all(status != 0 for _, status, _, _ in said), f"all fail: {[s[0] for s in said if s[1] == 0]}")
    true(all(err for _, _, _, err in said), "each says why")
