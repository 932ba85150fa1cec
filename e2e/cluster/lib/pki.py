# SPDX-License-Identifier: Apache-2.0
"""Certificates and kubeconfigs of the test cluster: one CA, a pair for each part."""
import json
import os

from state import run

DAYS = "30"
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
# Who each part is: common name and organisation, by which RBAC and the node authorizer know it.
CLIENTS = {
    "admin": ("admin", "system:masters"),
    "kubelet": ("system:node:{node}", "system:nodes"),
    "controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
    "proxy": ("system:kube-proxy", None),
    "kubelet-client": ("kube-apiserver", "system:masters"),
    "dns": ("coredns", "system:masters"),
}


def _signed(state, name, subject, extensions):
    pair = state.path("pki", name)
    run("openssl", "req", *CURVE, "-keyout", f"{pair}.key", "-out", f"{pair}.csr", "-subj", subject)
    state.write(f"pki/{name}.ext", extensions)
    run("openssl", "x509", "-req", "-in", f"{pair}.csr", "-CA", state.path("pki/ca.crt"), "-CAkey",
        state.path("pki/ca.key"), "-CAcreateserial", "-days", DAYS, "-out", f"{pair}.crt", "-extfile", f"{pair}.ext")


def _kubeconfig(state, name):
    server = f"https://{state.facts['address']}:6443"
    pair = state.path("pki", name)
    state.write(f"{name}.kubeconfig", json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority": state.path("pki/ca.crt")}}],
        "users": [{"name": name, "user": {"client-certificate": f"{pair}.crt", "client-key": f"{pair}.key"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
    }, indent=1))


def make(state):
    facts = state.facts
    os.makedirs(state.path("pki"), mode=0o700, exist_ok=True)
    run("openssl", "req", "-x509", *CURVE, "-keyout", state.path("pki/ca.key"), "-out", state.path("pki/ca.crt"),
        "-days", DAYS, "-subj", "/CN=test cluster CA")
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
             "localhost"]
    addresses = ["127.0.0.1", facts["address"], facts["kubernetes"]]
    alternatives = ",".join([f"DNS:{name}" for name in names] + [f"IP:{address}" for address in addresses])
    _signed(state, "apiserver", "/CN=kube-apiserver", f"subjectAltName={alternatives}\nextendedKeyUsage=serverAuth\n")
    for name, (who, group) in CLIENTS.items():
        organisation = f"/O={group}" if group else ""
        _signed(state, name, f"{organisation}/CN={who.format(**facts)}", "extendedKeyUsage=clientAuth\n")
        _kubeconfig(state, name)
    run("openssl", "genrsa", "-out", state.path("pki/service-accounts.key"), "2048")
    run("openssl", "rsa", "-in", state.path("pki/service-accounts.key"), "-pubout", "-out",
        state.path("pki/service-accounts.pub"))
