# SPDX-License-Identifier: Apache-2.0
# Sourced by the suites that are written in bash: how a case is said, and how a preset is built.
# Standard output carries case lines only; whatever else a suite prints goes to standard error, the log.
# shellcheck shell=bash
set -uo pipefail
: "${OSB_ROOT:?run the suites by ./test}" "${OSB_TEST_TMP:?}" "${OSB_TEST_LOGS:?}"
cd "$OSB_ROOT" || exit 2

ok() {
    printf 'ok %s\n' "$1"
}

# not_ok NAME WHY: the why is one line.
not_ok() {
    printf 'not ok %s # %s\n' "$1" "$(tr '\n' ' ' <<<"$2" | cut -c1-300)"
}

skip() {
    printf 'skip %s # %s\n' "$1" "$2"
}

# check NAME COMMAND…: one case. The command's output is logged; its last line is the why of a failure.
# It runs in this shell, so that a function may set variables, or with `set -e` semantics if it asks.
check() {
    local name=$1 out=$OSB_TEST_TMP/.check rc
    shift
    "$@" >"$out" 2>&1
    rc=$?
    cat "$out" >&2
    if [ $rc = 0 ]; then ok "$name"; else not_ok "$name" "$(tail -n 1 "$out") (status $rc)"; fi
    return $rc
}

# build PRESET [TARGET…]: quick where nothing changed.
build() {
    local preset=$1
    shift
    cmake --preset "$preset" >&2 &&
        cmake --build --preset "$preset" ${1:+--target "$@"} >&2
}

# Turns the lines of ctest into case lines.
ctest_cases() {
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.* +Passed .*/ok \1/p
        s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*\*+Skipped.*/skip \1 # it says so itself/p
        s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*[^*]*\*+(Failed|Exception[^0-9]*|Timeout|Not Run).*/not ok \1 # \2/p'
}
