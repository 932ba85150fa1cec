# SPDX-License-Identifier: Apache-2.0
# Sourced after suite.sh by suites that start parts of a real Kubernetes of their own (e2e/cluster).
#
#   cluster_own NAME WHAT    sets `programs`, the folder of its programs, and `state`, a folder that is ended
#                            with the suite; where they cannot be built, WHAT is what is left out
# shellcheck shell=bash

cluster_own() {
    programs=$(e2e/cluster/build)
    case $? in
        0) ;;
        3) skip "$2" "no Go that can build one is here"; exit 0 ;;
        *) not_ok "the API server is built" "see the log"; exit 1 ;;
    esac
    state=/tmp/osb-$1.$$
    trap 'e2e/cluster/down --state "$state" >&2' EXIT
    trap 'exit 143' TERM
}
