# SPDX-License-Identifier: Apache-2.0
# Sourced after suite.sh by the suites that need an engine: one of their own, in their own state folder,
# ended with the suite. OSB_PRESET chooses whose programs; only those of `release` run in sandboxes.
# shellcheck shell=bash

: "${OSB_PRESET:=release}"
readonly OSB_BIN=$OSB_ROOT/build/$OSB_PRESET/bin
export OSB_BIN
export OPENSANDBOX_STATE=$OSB_TEST_TMP/state
# What the suites start sandboxes from.
export OSB_IMAGE=localhost/opensandbox/base:1

osb() {
    "$OSB_BIN/opensandbox" "$@"
}

# For whoever has to find out why a case failed.
engine_keep_logs() {
    mkdir -p "$OSB_TEST_LOGS/engine-${0##*/}"
    cp "$OPENSANDBOX_STATE"/logs/* "$OSB_TEST_LOGS/engine-${0##*/}/" 2>/dev/null
}

engine_down() {
    [ -e "$OPENSANDBOX_STATE" ] || return 0
    engine_keep_logs
    osb down --purge >&2
}

# engine_start: builds and starts an engine, and sets the clients' environment variables. A suite that
# cannot have its engine has failed.
engine_start() {
    trap engine_down EXIT
    # The runner's time-out: bash would else wait for its child first.
    trap 'exit 143' TERM
    local settings
    check "the engine is built" build "$OSB_PRESET" programs || exit 1
    # Each pod is held by the pause image, whatever else is loaded.
    check "the pause image is built" images/build \
        -o "build/$OSB_PRESET/share/opensandbox/images" pause || exit 1
    check "the engine starts" osb up || { tail -n 5 "$OPENSANDBOX_STATE"/logs/*.log >&2; exit 1; }
    settings=$(osb env) || { not_ok "the engine tells its settings" "opensandbox env failed"; exit 1; }
    eval "$settings"
}

# engine_up: and with the base image, so that sandboxes can be made.
engine_up() {
    engine_start
    check "the base image is built" images/build base || exit 1
    check "the base image is loaded" osb image load build/images/base.tar || exit 1
}
