# SPDX-License-Identifier: Apache-2.0
# Sourced after suite.sh: comparisons for cases. Each says what it wanted when it does not get it, which
# becomes the why of the failed case.
# shellcheck shell=bash

# is GOT WANTED
is() {
    [ "$1" = "$2" ] || { echo "got '$1', wanted '$2'"; return 1; }
}

# has TEXT PATTERN: an extended regular expression matches a line of the text.
has() {
    grep -qE -- "$2" <<<"$1" || { printf '%s\n' "$1"; echo "no line matches '$2'"; return 1; }
}

has_not() {
    ! grep -E -- "$2" <<<"$1" || { echo "a line matches '$2'"; return 1; }
}

# fails PATTERN COMMAND…: the command ends in failure and says the pattern.
fails() {
    local pattern=$1 out
    shift
    if out=$("$@" 2>&1); then
        printf '%s\n' "$out"
        echo "it should have failed: $*"
        return 1
    fi
    has "$out" "$pattern"
}

# within SECONDS COMMAND…: the command succeeds in the end; the last try's output is shown.
within() {
    local end=$((SECONDS + $1)) out
    shift
    until out=$("$@" 2>&1); do
        [ $SECONDS -lt $end ] || { printf '%s\n' "$out"; echo "not in time: $*"; return 1; }
        sleep 0.1
    done
}
