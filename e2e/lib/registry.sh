# SPDX-License-Identifier: Apache-2.0
# Sourced by suites with an engine (e2e/lib/engine.sh) that pull for real: a registry on a free port of
# loopback, from which any containerd pulls without TLS.
#
#   registry_up              starts it; sets REGISTRY to ADDRESS:PORT
#   registry_push NAME…      puts images/build's images there as $REGISTRY/NAME:1
#   registry_stop, registry_continue    it takes connections and answers none; it answers again
#   registry_down            ends it; safe to call at any time
# shellcheck shell=bash

readonly REGISTRY_WAIT_S=10
readonly REGISTRY_TRIES=10
readonly REGISTRY_FOLDER=$OSB_TEST_TMP/registry
registry_pid=
REGISTRY=

_registry_serves() {
    : >"/dev/tcp/${REGISTRY/:/\/}"
}

# Whether the one just started serves; false when it has ended, for which its port may have been taken.
_registry_wait() {
    local end=$((SECONDS + REGISTRY_WAIT_S))
    until _registry_serves 2>/dev/null; do
        kill -0 "$registry_pid" 2>/dev/null && [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
    kill -0 "$registry_pid" 2>/dev/null
}

registry_up() {
    local try
    mkdir -p "$REGISTRY_FOLDER"
    for ((try = 0; try < REGISTRY_TRIES; try++)); do
        REGISTRY=127.0.0.1:$((20000 + RANDOM % 10000))
        _registry_serves 2>/dev/null && continue
        cat >"$REGISTRY_FOLDER/config.yml" <<CONFIG
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $REGISTRY_FOLDER/data}}
http: {addr: $REGISTRY}
CONFIG
        docker-registry serve "$REGISTRY_FOLDER/config.yml" >>"$OSB_TEST_LOGS/registry-${0##*/}.log" 2>&1 &
        registry_pid=$!
        _registry_wait && return
        registry_down
    done
    echo "the registry does not serve"
    return 1
}

registry_push() {
    local name
    for name; do
        skopeo --insecure-policy copy --quiet --all --dest-tls-verify=false \
            "oci-archive:build/images/$name.tar" "docker://$REGISTRY/$name:1" || return
    done
}

registry_stop() {
    kill -STOP "$registry_pid"
}

registry_continue() {
    kill -CONT "$registry_pid"
}

registry_down() {
    [ -n "$registry_pid" ] || return 0
    kill -TERM "$registry_pid" 2>/dev/null
    kill -CONT "$registry_pid" 2>/dev/null
    wait "$registry_pid" 2>/dev/null
    registry_pid=
}
