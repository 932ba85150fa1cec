#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a pod costs by bare CRI calls, in a containerd of its own that is gone afterwards. Needs root.
#
#   bench/cri_pod.sh [ROUNDS]
set -uo pipefail
OSB_ROOT=$(readlink -f "$(dirname "$0")/..")
OSB_TEST_TMP=$(mktemp -d /tmp/osb-bench.XXXXXX)
OSB_TEST_LOGS=$OSB_TEST_TMP
. "$OSB_ROOT/e2e/lib/suite.sh"
. "$OSB_ROOT/e2e/lib/containerd.sh"

clean_up() {
    containerd_down
    rm -rf --one-file-system "$OSB_TEST_TMP"
}

trap clean_up EXIT
build release bench_cri_pod 2>/dev/null || { echo "the release preset does not build" >&2; exit 1; }
images/build pause base >&2 || exit 1
containerd_up
started=$?
trap clean_up EXIT # containerd_up has set its own
[ $started = 0 ] && containerd_push pause base || exit 1
build/release/bench/cri_pod "unix://$CONTAINERD_SOCKET" "$CONTAINERD_REGISTRY/base:1" "${1:-20}" \
    "$CONTAINERD_CGROUP"
