// SPDX-License-Identifier: Apache-2.0
/* Private, for tests: what a pod's environment says of the API server. */
#ifndef OSB_KUBE_CONFIG_IN_CLUSTER_H
#define OSB_KUBE_CONFIG_IN_CLUSTER_H

/* "https://host:port", owned by the caller; an IPv6 HOST gets its brackets. */
char *kube_config_in_cluster_server(const char *host, const char *port);

#endif
