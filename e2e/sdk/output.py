# SPDX-License-Identifier: Apache-2.0
"""What commands print, and two commands that several cases use."""

EXECD_PID = "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = execd ] && echo ${p#/proc/}; done | head -n 1"


def stdout(execution):
    return "".join(message.text for message in execution.logs.stdout)


def stderr(execution):
    return "".join(message.text for message in execution.logs.stderr)


def python(source):
    return ["python3", "-c", source]
