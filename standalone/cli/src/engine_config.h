// SPDX-License-Identifier: Apache-2.0
/* Writes the configuration files of the parts: containerd, CNI and operator. */
#ifndef CLI_ENGINE_CONFIG_H
#define CLI_ENGINE_CONFIG_H

#include "instance.h"

#include <osb/err.h>

#define ENGINE_PAUSE_IMAGE "localhost/opensandbox/pause:1"

int engine_config_write(const struct instance *instance, struct osb_err *err);

#endif
