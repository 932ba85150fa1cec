# SPDX-License-Identifier: Apache-2.0
# Sourced after suite.sh by suites that need a containerd and nothing of ours around it: it has a mount
# and a network namespace of its own, so its bridge, its registry on loopback and what is compiled into it
# (/run/containerd, /var/lib/cni) are seen by nobody else.
#
#   containerd_up                starts all; sets CONTAINERD_SOCKET, CONTAINERD_CGROUP, CONTAINERD_REGISTRY
#   containerd_push NAME…        puts images/build's images into its registry as $CONTAINERD_REGISTRY/NAME:1
#   containerd_inside COMMAND…   runs COMMAND in its namespaces
#   containerd_stop, containerd_start   the daemon alone; containers go on
#   containerd_down              ends all, also what containers are left; safe to call at any time
#
# Give pods $CONTAINERD_CGROUP as their parent, so that containerd_down finds them.
# shellcheck shell=bash

readonly CONTAINERD_DIR=$OSB_TEST_TMP/containerd
readonly CONTAINERD_SOCKET=$CONTAINERD_DIR/containerd.sock
readonly CONTAINERD_CGROUP=/osb-containerd-$$
readonly CONTAINERD_REGISTRY=127.0.0.1:5000
readonly CONTAINERD_WAIT_S=20
containerd_holder=
containerd_pid=
containerd_registry_pid=

# wait_until SECONDS COMMAND…: asks again and again.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

containerd_inside() {
    nsenter --target "$containerd_holder" --mount --net -- "$@"
}

containerd_ctr() {
    ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io "$@"
}

_containerd_config() {
    mkdir -p "$CONTAINERD_DIR"/{cni,certs.d/"$CONTAINERD_REGISTRY",registry}
    cat >"$CONTAINERD_DIR/config.toml" <<CONFIG
version = 2
root = "$CONTAINERD_DIR/root"
state = "$CONTAINERD_DIR/state"
# What needs a device or a file system that we do not use.
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "$CONTAINERD_SOCKET"
[plugins."io.containerd.internal.v1.opt"]
  path = "$CONTAINERD_DIR/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$CONTAINERD_REGISTRY/pause:1"
  # We may not lower a score below our own without CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$CONTAINERD_DIR/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$CONTAINERD_DIR/certs.d"
CONFIG
    # ipMasq and portmap would write iptables rules.
    cat >"$CONTAINERD_DIR/cni/10-bridge.conflist" <<CONFIG
{"cniVersion": "1.0.0", "name": "osb", "plugins": [
  {"type": "bridge", "bridge": "osb0", "isGateway": true, "hairpinMode": true, "ipMasq": false,
   "ipam": {"type": "host-local", "dataDir": "$CONTAINERD_DIR/cni-data",
            "ranges": [[{"subnet": "10.89.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
CONFIG
    cat >"$CONTAINERD_DIR/certs.d/$CONTAINERD_REGISTRY/hosts.toml" <<CONFIG
server = "http://$CONTAINERD_REGISTRY"
[host."http://$CONTAINERD_REGISTRY"]
  capabilities = ["pull", "resolve"]
CONFIG
    cat >"$CONTAINERD_DIR/registry.yml" <<CONFIG
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $CONTAINERD_DIR/registry}}
http: {addr: $CONTAINERD_REGISTRY}
CONFIG
}

# The process that holds the namespaces while the daemon comes and goes.
_containerd_hold() {
    unshare --mount --net --propagation private bash -c '
        mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && ip link set lo up &&
            : >"$0/held" && exec sleep infinity' "$CONTAINERD_DIR" >&2 &
    containerd_holder=$!
    wait_until $CONTAINERD_WAIT_S test -e "$CONTAINERD_DIR/held"
}

# Daemons are started without the function: its subshell would be the process that $! names.
containerd_start() {
    nsenter --target "$containerd_holder" --mount --net -- containerd --config "$CONTAINERD_DIR/config.toml" --log-level warn \
        >>"$OSB_TEST_LOGS/containerd-${0##*/}.log" 2>&1 &
    containerd_pid=$!
    wait_until $CONTAINERD_WAIT_S containerd_ctr version
}

# A child that has ended stays as a zombie until this shell waits for it.
has_ended() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"
}

_containerd_end() {
    local pid=$1
    [ -n "$pid" ] || return 0
    kill -TERM "$pid" 2>/dev/null
    wait_until $CONTAINERD_WAIT_S has_ended "$pid" || kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    return 0
}

containerd_stop() {
    _containerd_end "$containerd_pid"
    containerd_pid=
}

_containerd_registry_start() {
    nsenter --target "$containerd_holder" --net -- docker-registry serve "$CONTAINERD_DIR/registry.yml" \
        >>"$OSB_TEST_LOGS/registry-${0##*/}.log" 2>&1 &
    containerd_registry_pid=$!
    wait_until $CONTAINERD_WAIT_S containerd_inside bash -c ": >/dev/tcp/${CONTAINERD_REGISTRY/:/\/}"
}

containerd_up() {
    trap containerd_down EXIT
    # The runner's time-out: bash would else wait for its child first.
    trap 'exit 143' TERM
    _containerd_config
    _containerd_hold || { echo "no namespaces"; return 1; }
    _containerd_registry_start || { echo "the registry does not serve"; return 1; }
    containerd_start || { echo "containerd does not serve"; return 1; }
}

containerd_push() {
    local name
    for name; do
        nsenter --target "$containerd_holder" --net -- skopeo --insecure-policy copy --quiet --all \
            --dest-tls-verify=false "oci-archive:build/images/$name.tar" \
            "docker://$CONTAINERD_REGISTRY/$name:1" || return
    done
}

# Everybody in the namespaces but the holder, and everybody in the cgroups of pods.
containerd_processes() {
    local own proc
    own=$(readlink "/proc/$containerd_holder/ns/mnt")
    for proc in /proc/[0-9]*; do
        [ "$(readlink "$proc/ns/mnt" 2>/dev/null)" = "$own" ] && [ "${proc#/proc/}" != "$containerd_holder" ] &&
            echo "${proc#/proc/}"
    done
    find /sys/fs/cgroup/{,*/}"$CONTAINERD_CGROUP" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u
}

_containerd_is_empty() {
    [ -z "$(containerd_processes)" ]
}

containerd_down() {
    [ -n "$containerd_holder" ] || return 0
    containerd_stop
    _containerd_end "$containerd_registry_pid"
    containerd_registry_pid=
    if ! _containerd_is_empty; then
        kill -KILL $(containerd_processes) 2>/dev/null
        wait_until $CONTAINERD_WAIT_S _containerd_is_empty
    fi
    _containerd_end "$containerd_holder"
    containerd_holder=
    find /sys/fs/cgroup/{,*/}"$CONTAINERD_CGROUP" -depth -type d -exec rmdir {} + 2>/dev/null
    return 0
}
