#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the shim adds to CRI calls, in a containerd of its own that is gone afterwards. Needs root.
#
#   bench/shim.sh [CALLS]
set -uo pipefail
OSB_ROOT=$(readlink -f "$(dirname "$0")/..")
OSB_TEST_TMP=$(mktemp -d /tmp/osb-bench.XXXXXX)
OSB_TEST_LOGS=$OSB_TEST_TMP
. "$OSB_ROOT/e2e/lib/suite.sh"
. "$OSB_ROOT/e2e/lib/containerd.sh"

readonly SOCKET=$OSB_TEST_TMP/shim.sock
shim=

clean_up() {
    [ -z "$shim" ] || kill "$shim"
    [ -z "$shim" ] || wait "$shim"
    containerd_down
    rm -rf --one-file-system "$OSB_TEST_TMP"
}

trap clean_up EXIT
build release bench_shim_calls opensandbox-shim execd bootstrap 2>/dev/null ||
    { echo "the release preset does not build" >&2; exit 1; }
images/build pause base >&2 || exit 1
containerd_up
started=$?
trap clean_up EXIT # containerd_up has set its own
[ $started = 0 ] && containerd_push pause base || exit 1
build/release/bin/opensandbox-shim --listen "unix://$SOCKET" --backend "unix://$CONTAINERD_SOCKET" \
    --files "$OSB_TEST_TMP/files" --execd build/release/bin/execd --bootstrap build/release/bin/bootstrap.sh \
    --health 127.0.0.1:0 --log-level warn &
shim=$!
wait_until 10 test -S "$SOCKET" || { echo "the shim does not serve" >&2; exit 1; }
build/release/bench/shim_calls "unix://$CONTAINERD_SOCKET" "unix://$SOCKET" "$shim" \
    "$CONTAINERD_REGISTRY/base:1" "$CONTAINERD_CGROUP" ${1:-}
