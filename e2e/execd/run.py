# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of one module against an execd of its own: run.py PROGRAM MODULE [PREFIX]

execd is started as a shell's background job would be.
"""
import importlib
import os
import resource
import signal
import sys

sys.path.insert(0, os.path.join(os.environ["OSB_ROOT"], "e2e", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases  # noqa: E402
from daemon import Daemon  # noqa: E402


def spoil():
    """What an unkind parent may leave: ignored signals, a small limit of descriptors."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)


def main():
    program, module = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = os.environ["OSB_TEST_TMP"]
    env = {"LAYER": "process", "BOTH": "process", "EXECD_ENVS": os.path.join(folder, "envs"),
           "JUPYTER_TOKEN": "secret", "EXECD_RUNTIME_INIT": "false"}
    prefix = sys.argv[3] + ": " if len(sys.argv) > 3 else ""
    try:
        execd = Daemon(program, env=env, popen={"preexec_fn": spoil})
    except (AssertionError, OSError) as error:
        cases.say("not ok", f"{prefix}execd starts for the cases of {module}", error)
        return 1
    execd.path_of_variables = env["EXECD_ENVS"]
    importlib.import_module(module)
    failed = cases.run(execd, prefix=prefix)
    try:
        cases.equal(execd.stop(), 0, "exit status")
        cases.say("ok", f"{prefix}execd ends well after the cases of {module}")
    except AssertionError as error:
        failed += 1
        cases.say("not ok", f"{prefix}execd ends well after the cases of {module}", error)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
