# SPDX-License-Identifier: Apache-2.0
"""What the test cluster consists of: the command line and the configuration of each daemon.

Everything runs in one network and one mount namespace. The machine sees a veth pair and a route to it,
so that pods, services and the API server can be reached from outside by their own addresses; all of it
goes when the last process inside has ended.
"""
import json
import os
import subprocess

from state import ROOT, run, wait_for

API_PORT = 6443
MAX_PODS = 500
# The kubelet wants these values of the machine and writes those that are different: it finds them so.
KUBELET_SYSCTLS = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
                   "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}
WAIT_S = 60


def hold(state):
    """Makes the namespaces, held by a process that does nothing, and the way into them."""
    facts = state.facts
    for name, value in KUBELET_SYSCTLS.items():
        state.write(f"sysctl/{name}", f"{value}\n")
    script = """
        for covered in /run /var/lib /var/log; do mount -t tmpfs tmpfs $covered || exit; done
        cd "$0/sysctl" && for wanted in */* */*/*; do
            [ -d "$wanted" ] || mount --bind "$wanted" "/proc/sys/$wanted" || exit
        done
        cd / && ip link set lo up && : >"$0/held" && exec sleep infinity"""
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(["unshare", "--mount", "--net", "--propagation", "private", "bash", "-c", script,
                                state.folder], stdin=nowhere, stdout=nowhere, stderr=nowhere,
                               start_new_session=True, cwd="/")
    state.remember("holder", process.pid)
    wait_for("the namespaces", WAIT_S, os.path.exists, state.path("held"))
    outer, inner = f"osbk-{facts['id']}", "uplink"
    run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", str(process.pid))
    run("ip", "address", "add", f"{facts['host']}/30", "dev", outer)
    run("ip", "link", "set", outer, "up")
    run("ip", "route", "add", facts["network"], "via", facts["address"])
    for command in (f"ip address add {facts['address']}/30 dev {inner}", f"ip link set {inner} up",
                    f"ip route add default via {facts['host']}", "sysctl -qw net.ipv4.ip_forward=1"):
        run(*state.inside(*command.split()))


def etcd(state, programs):
    url, peer = "https://127.0.0.1:2379", "http://127.0.0.1:2380"
    own = [f"--cert-file={state.path('pki/apiserver.crt')}", f"--key-file={state.path('pki/apiserver.key')}",
           f"--trusted-ca-file={state.path('pki/ca.crt')}", "--client-cert-auth"]
    # The cluster's data need not survive the machine.
    state.start("etcd", f"{programs}/etcd", f"--data-dir={state.path('etcd')}", f"--listen-client-urls={url}",
                f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}", "--unsafe-no-fsync",
                "--log-level=warn", *own)


def apiserver(state, programs):
    facts = state.facts
    pki = state.path("pki")
    state.start(
        "apiserver", f"{programs}/kube-apiserver", f"--advertise-address={facts['address']}",
        f"--secure-port={API_PORT}", "--etcd-servers=https://127.0.0.1:2379", f"--etcd-cafile={pki}/ca.crt",
        f"--etcd-certfile={pki}/kubelet-client.crt", f"--etcd-keyfile={pki}/kubelet-client.key",
        f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt", f"--cert-dir={state.path('apiserver')}",
        "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/service-accounts.pub",
        f"--service-account-signing-key-file={pki}/service-accounts.key",
        f"--service-cluster-ip-range={facts['services']}", "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-client-certificate={pki}/kubelet-client.crt", f"--kubelet-client-key={pki}/kubelet-client.key",
        "--allow-privileged=true", "--profiling=false", "-v=1")
    wait_for("the API server", WAIT_S, ready, state)


def kubectl(state, *arguments, **options):
    return run("kubectl", "--kubeconfig", state.path("admin.kubeconfig"), *arguments, **options)


def ready(state):
    return kubectl(state, "get", "--raw", "/readyz") == "ok"


def controllers(state, programs):
    pki = state.path("pki")
    common = ["--leader-elect=false", "--profiling=false", "--bind-address=127.0.0.1", "-v=1"]
    state.start("controller-manager", f"{programs}/kube-controller-manager",
                f"--kubeconfig={state.path('controller-manager.kubeconfig')}", f"--root-ca-file={pki}/ca.crt",
                f"--service-account-private-key-file={pki}/service-accounts.key",
                "--use-service-account-credentials=true", f"--cert-dir={state.path('controller-manager')}", *common)
    state.start("scheduler", f"{programs}/kube-scheduler", f"--kubeconfig={state.path('scheduler.kubeconfig')}",
                f"--cert-dir={state.path('scheduler')}", *common)


def registry(state):
    config = state.write("registry.yml", f"""version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {state.path('registry')}}}}}
http: {{addr: {state.facts['registry']}}}
""")
    state.start("registry", "docker-registry", "serve", config)


def containerd(state):
    facts = state.facts
    name = facts["registry"]
    state.write(f"certs.d/{name}/hosts.toml", f"""server = "http://{name}"
[host."http://{name}"]
  capabilities = ["pull", "resolve"]
""")
    # ipMasq and portmap would write iptables rules; kube-proxy does what is needed.
    state.write("cni/10-bridge.conflist", json.dumps({"cniVersion": "1.0.0", "name": "test", "plugins": [
        {"type": "bridge", "bridge": "pods0", "isGateway": True, "hairpinMode": True, "ipMasq": False,
         "ipam": {"type": "host-local", "dataDir": state.path("cni-data"),
                  "ranges": [[{"subnet": facts["pods"], "gateway": facts["gateway"]}]],
                  "routes": [{"dst": "0.0.0.0/0"}]}}]}))
    config = state.write("containerd.toml", f"""version = 2
root = "{state.path('containerd')}"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "{state.path('containerd.sock')}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{state.path('opt')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{name}/pause:1"
  # We may not lower a score below our own without CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{state.path('cni')}"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{state.path('certs.d')}"
""")
    state.start("containerd", "containerd", "--config", config, "--log-level", "warn")
    wait_for("containerd", WAIT_S, lambda: run("ctr", "--address", state.path("containerd.sock"), "version"))


def shim(state):
    """The CRI endpoint between kubelet and containerd; gives the kubelet's endpoint."""
    program = os.path.join(ROOT, "build/release/bin")
    state.start("shim", f"{program}/opensandbox-shim", "--listen", f"unix://{state.path('shim.sock')}",
                "--backend", f"unix://{state.path('containerd.sock')}", "--files", state.path("shim-files"),
                "--execd", f"{program}/execd", "--bootstrap", f"{program}/bootstrap.sh",
                "--kubeconfig", state.path("kubelet.kubeconfig"))
    wait_for("the shim", WAIT_S, os.path.exists, state.path("shim.sock"))


def kubelet(state, programs, endpoint):
    facts = state.facts
    for hierarchy in os.listdir("/sys/fs/cgroup"):
        if os.path.isdir(f"/sys/fs/cgroup/{hierarchy}/"):
            os.makedirs(f"/sys/fs/cgroup/{hierarchy}{facts['cgroup']}", exist_ok=True)
    config = state.write("kubelet.json", json.dumps({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "cgroupDriver": "cgroupfs", "cgroupRoot": facts["cgroup"], "failCgroupV1": False, "failSwapOn": False,
        "oomScoreAdj": 0, "containerRuntimeEndpoint": f"unix://{endpoint}", "address": facts["address"],
        "healthzBindAddress": "127.0.0.1", "authentication": {"x509": {"clientCAFile": state.path("pki/ca.crt")}},
        "authorization": {"mode": "Webhook"}, "maxPods": MAX_PODS, "registryPullQPS": 0,
        "serializeImagePulls": False, "kubeAPIQPS": 500, "kubeAPIBurst": 1000, "eventRecordQPS": 0,
        "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "clusterDNS": [facts["dns"]], "clusterDomain": "cluster.local", "resolvConf": state.write("resolv.conf", ""),
        "podLogsDir": state.path("pod-logs"), "makeIPTablesUtilChains": False,
        # Sandboxes must not wait for each other's garbage.
        "imageMinimumGCAge": "24h", "protectKernelDefaults": False, "localStorageCapacityIsolation": False,
    }, indent=1))
    state.start("kubelet", f"{programs}/kubelet", f"--config={config}",
                f"--kubeconfig={state.path('kubelet.kubeconfig')}", f"--root-dir={state.path('kubelet')}",
                f"--cert-dir={state.path('kubelet-pki')}", f"--node-ip={facts['address']}",
                f"--hostname-override={facts['node']}", "-v=1")


def proxy(state, programs):
    config = state.write("kube-proxy.json", json.dumps({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "nftables",
        "clientConnection": {"kubeconfig": state.path("proxy.kubeconfig")}, "oomScoreAdj": 0,
        "hostnameOverride": state.facts["node"], "clusterCIDR": state.facts["pods"],
        # Pods share a bridge: an answer that did not come back through the node would not be translated.
        "nftables": {"masqueradeAll": True}, "healthzBindAddress": "127.0.0.1:10256",
        # Those belong to the machine.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }, indent=1))
    state.start("proxy", f"{programs}/kube-proxy", f"--config={config}", "-v=1")


def dns(state, programs):
    facts = state.facts
    corefile = state.write("Corefile", f""".:53 {{
    bind {facts['address']}
    errors
    ready {facts['address']}:8181
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {state.path('dns.kubeconfig')} test
    }}
}}
""")
    state.start("dns", f"{programs}/coredns", "-conf", corefile)
    objects = [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "kube-dns", "namespace": "kube-system"},
         "spec": {"clusterIP": facts["dns"], "ports": [{"name": "dns", "port": 53, "protocol": "UDP"},
                                                       {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]}},
        {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
         "metadata": {"name": "kube-dns-node", "namespace": "kube-system",
                      "labels": {"kubernetes.io/service-name": "kube-dns"}},
         "endpoints": [{"addresses": [facts["address"]]}],
         "ports": [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]},
    ]
    kubectl(state, "apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def node_is_ready(state):
    return kubectl(state, "get", "node", state.facts["node"], "-o",
                   'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == "True"
