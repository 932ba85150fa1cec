# SPDX-License-Identifier: Apache-2.0
"""Cases of suites that are written in Python: how they are declared, run and said (docs/testing.md).

Standard output carries case lines only, so print() goes to standard error, the suite's log.
"""
import os
import re
import signal
import sys
import traceback

CASE_LIMIT_S = 120

_report = sys.stdout
sys.stdout = sys.stderr
_cases = []


class Skip(Exception):
    """Raised with the reason by a case that this machine cannot run."""


def case(name, limit_s=CASE_LIMIT_S):
    """Declares a function as a case; the name is a sentence that says what holds."""
    def declare(function):
        _cases.append((name, limit_s, function))
        return function
    return declare


def _one_line(text):
    return " ".join(str(text).split())[:300]


def say(verdict, name, why=""):
    _report.write(f"{verdict} {name}{' # ' + _one_line(why) if why else ''}\n")
    _report.flush()


def _too_late(_signal, _frame):
    raise TimeoutError("the case took too long")


def run(*arguments, prefix=""):
    """Runs the declared cases in their order, each with the same arguments; the number that failed."""
    failed = 0
    signal.signal(signal.SIGALRM, _too_late)
    # While working on one case: OSB_TEST_CASE is a pattern of the names that run.
    wanted = re.compile(os.environ.get("OSB_TEST_CASE", ""))
    for name, limit_s, function in _cases:
        if not wanted.search(name):
            continue
        print(f"--- {prefix}{name}")
        signal.alarm(limit_s)
        try:
            function(*arguments)
        except Skip as skip:
            say("skip", prefix + name, skip)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            traceback.print_exc()
            say("not ok", prefix + name, f"{type(error).__name__}: {error}")
        else:
            say("ok", prefix + name)
        finally:
            signal.alarm(0)
    return failed


def equal(got, wanted, what="value"):
    if got != wanted:
        raise AssertionError(f"{what}: got {_short(got)}, wanted {_short(wanted)}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def _short(value):
    text = repr(value)
    return text if len(text) <= 120 else text[:100] + f"… ({len(text)} characters)"
