// SPDX-License-Identifier: Apache-2.0
#include "engine_config.h"

#include "pki.h"

#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <string.h>

static int write_text(const struct instance *instance, const char *name, struct osb_buf *text,
                      struct osb_err *err)
{
    _cleanup_free_ char *file = instance_state_path(instance, name);
    int r = osb_write_file(file, osb_buf_slice(text), 0600, err);
    explicit_bzero(text->base, text->cap);
    return r;
}

/*
 * restrict_oom_score_adj: without CAP_SYS_RESOURCE nothing may lower its score. The opt plugin's
 * default folder would be made in /opt. Loopback registries are plain HTTP by containerd's own
 * rule; others are set up by files in certs.d.
 */
static int write_containerd(const struct instance *instance, struct osb_err *err)
{
    const char *state = instance->state, *run = instance->run;
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_appendf(&text,
                    "version = 2\n"
                    "root = \"%s/containerd/root\"\n"
                    "state = \"%s/containerd-state\"\n"
                    "oom_score = 0\n"
                    "disabled_plugins = [\"io.containerd.snapshotter.v1.btrfs\",\n"
                    "  \"io.containerd.snapshotter.v1.zfs\", "
                    "\"io.containerd.snapshotter.v1.aufs\",\n"
                    "  \"io.containerd.snapshotter.v1.devmapper\"]\n\n"
                    "[grpc]\naddress = \"%s/containerd.sock\"\n\n"
                    "[plugins.\"io.containerd.internal.v1.opt\"]\npath = "
                    "\"%s/containerd/opt\"\n\n",
                    state, run, run, state);
    osb_buf_appendf(&text,
                    "[plugins.\"io.containerd.grpc.v1.cri\"]\n"
                    "sandbox_image = \"%s\"\n"
                    "restrict_oom_score_adj = true\n"
                    "netns_mounts_under_state_dir = true\n"
                    "stream_server_address = \"127.0.0.1\"\n"
                    "stream_server_port = \"0\"\n\n"
                    "[plugins.\"io.containerd.grpc.v1.cri\".cni]\n"
                    "bin_dir = \"/usr/lib/cni\"\n"
                    "conf_dir = \"%s/cni/net.d\"\n\n"
                    "[plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
                    "config_path = \"%s/containerd/certs.d\"\n\n"
                    "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
                    "default_runtime_name = \"runc\"\n\n"
                    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
                    "runtime_type = \"io.containerd.runc.v2\"\n\n"
                    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
                    "SystemdCgroup = false\n",
                    ENGINE_PAUSE_IMAGE, state, state);
    return write_text(instance, "containerd/config.toml", &text, err);
}

/* No masquerading and no port mapping here: both plugins write iptables rules that stay behind. */
static int write_cni(const struct instance *instance, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_appendf(&text,
                    "{\"cniVersion\": \"1.0.0\", \"name\": \"opensandbox-%s\", \"plugins\": [\n"
                    "  {\"type\": \"bridge\", \"bridge\": \"%s\", \"isGateway\": true,\n"
                    "   \"ipMasq\": false, \"hairpinMode\": true,\n"
                    "   \"ipam\": {\"type\": \"host-local\", \"dataDir\": \"%s/cni/data\",\n"
                    "     \"ranges\": [[{\"subnet\": \"%s\"}]],\n"
                    "     \"routes\": [{\"dst\": \"0.0.0.0/0\"}]}}\n]}\n",
                    instance->id, instance->bridge, instance->state, instance->subnet);
    return write_text(instance, "cni/net.d/10-opensandbox.conflist", &text, err);
}

static int write_operator(const struct instance *instance, struct osb_err *err)
{
    _cleanup_secret_ struct osb_secret key = {0};
    int r = pki_api_key(instance, &key, err);
    if (r < 0)
        return r;
    struct osb_slice text_key = osb_secret_reveal(&key);
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_appendf(&text,
                    "[server]\nhost = \"%s\"\nport = %d\napi_key = \"%.*s\"\n\n"
                    "[runtime]\ntype = \"kubernetes\"\n\n"
                    "[kubernetes]\nnamespace = \"default\"\nexecd_injection = \"shim\"\n",
                    instance->rest_address, instance->rest_port, OSB_SLICE_ARG(text_key));
    return write_text(instance, "operator.toml", &text, err);
}

int engine_config_write(const struct instance *instance, struct osb_err *err)
{
    int r;
    (void)((r = write_containerd(instance, err)) < 0 || (r = write_cni(instance, err)) < 0 ||
           (r = write_operator(instance, err)) < 0);
    return osb_wrap(err, r, "configuration");
}
