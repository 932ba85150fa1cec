# SPDX-License-Identifier: Apache-2.0
# Sourced after suite.sh: certificates() makes what e2e/apiserver/server.py serves with, and its clients.
# shellcheck shell=bash

# leaf NAME SUBJECT EXTENSIONS: a certificate of the suite's own CA.
leaf() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2" &&
        openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out "$1.crt" \
            -extfile <(printf '%s\n' "$3")
}
certificates() {
    mkdir -p "$OSB_TEST_TMP/pki" && cd "$OSB_TEST_TMP/pki" &&
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt \
            -subj /CN=suite -days 2 &&
        leaf apiserver /CN=apiserver $'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth' &&
        leaf admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth &&
        leaf node /O=system:nodes/CN=system:node:embedded extendedKeyUsage=clientAuth &&
        leaf nobody /CN=nobody extendedKeyUsage=clientAuth &&
        cd "$OSB_ROOT"
}
