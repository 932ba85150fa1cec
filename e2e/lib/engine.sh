# SPDX-License-Identifier: Apache-2.0
# Sourced after suite.sh by the suites that need an engine. Where OSB_TEST_ENGINE is `embedded`: one of
# their own, in their own state folder, ended with the suite; OSB_PRESET chooses whose programs, and only
# those of `release` run in sandboxes. Where it is `kubernetes`: the cluster of this run, or the one that
# OSB_TEST_KUBECONFIG names, whose operator OPEN_SANDBOX_DOMAIN and OPEN_SANDBOX_API_KEY tell and OSB_IMAGE
# the image to start.
# shellcheck shell=bash

: "${OSB_TEST_ENGINE:=embedded}"
export OSB_TEST_ENGINE

: "${OSB_PRESET:=release}"
readonly OSB_BIN=$OSB_ROOT/build/$OSB_PRESET/bin
export OSB_BIN
export OPENSANDBOX_STATE=$OSB_TEST_TMP/state
# What the suites start sandboxes from, and an image that cannot be pulled, ever.
if [ "$OSB_TEST_ENGINE" = embedded ]; then
    export OSB_IMAGE=localhost/opensandbox/base:1 OSB_IMAGE_MISSING=127.0.0.1:1/none/none:1
else
    export OSB_IMAGE=${OSB_IMAGE:-127.0.0.1:5000/base:1}
    export OSB_IMAGE_MISSING=${OSB_IMAGE%%/*}/none:1
fi

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

# cluster_use: takes the cluster of this run; what the suite makes there goes with it.
cluster_use() {
    local settings kubectl
    if [ -n "${OSB_TEST_KUBECONFIG:-}" ]; then
        export KUBECONFIG=$OSB_TEST_KUBECONFIG
    elif [ -e "$OSB_TEST_CLUSTER.skip" ]; then
        skip "${OSB_TEST_NAME:-this suite}" "$(cat "$OSB_TEST_CLUSTER.skip")"
        exit 0
    else
        settings=$(e2e/cluster/env --state "$OSB_TEST_CLUSTER") || { not_ok "there is a cluster" "see cluster-up"; exit 1; }
        eval "$settings"
    fi
    kubectl=$(scripts/clients kubectl) || exit 1
    # shellcheck disable=SC2064  # as it is now
    trap "'$kubectl' delete batchsandboxes --all --all-namespaces --timeout=60s >&2" EXIT
    trap 'exit 143' TERM
}

# engine_start: builds and starts an engine, and sets the clients' environment variables. A suite that
# cannot have its engine has failed.
engine_start() {
    [ "$OSB_TEST_ENGINE" = embedded ] || { cluster_use; return; }
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
    [ "$OSB_TEST_ENGINE" = embedded ] || return 0
    check "the base image is built" images/build base || exit 1
    check "the base image is loaded" osb image load build/images/base.tar || exit 1
}
