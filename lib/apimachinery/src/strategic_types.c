// SPDX-License-Identifier: Apache-2.0
/*
 * The merge keys of the kinds that are served, as the Kubernetes API reference states them for
 * each list ("patch strategy", "patch merge key"). A list that is not here is replaced.
 */
#include "strategic.h"

#include <string.h>

#define KEYED(field, merge_key, item_type)                                                         \
    {                                                                                              \
        .name = (field), .shape = STRATEGIC_KEYED, .key = (merge_key), .type = (item_type)         \
    }
#define SET(field)                                                                                 \
    {                                                                                              \
        .name = (field), .shape = STRATEGIC_SET                                                    \
    }
#define STRUCT(field, struct_type)                                                                 \
    {                                                                                              \
        .name = (field), .shape = STRATEGIC_STRUCT, .type = (struct_type)                          \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const struct strategic_type object_meta = {(const struct strategic_field[]){
    KEYED("ownerReferences", "uid", NULL),
    SET("finalizers"),
    END,
}};

static const struct strategic_type container = {(const struct strategic_field[]){
    KEYED("ports", "containerPort", NULL),
    KEYED("env", "name", NULL),
    KEYED("volumeMounts", "mountPath", NULL),
    KEYED("volumeDevices", "devicePath", NULL),
    END,
}};

static const struct strategic_type pod_spec = {(const struct strategic_field[]){
    KEYED("volumes", "name", NULL),
    KEYED("initContainers", "name", &container),
    KEYED("containers", "name", &container),
    KEYED("ephemeralContainers", "name", &container),
    KEYED("imagePullSecrets", "name", NULL),
    KEYED("hostAliases", "ip", NULL),
    KEYED("topologySpreadConstraints", "topologyKey", NULL),
    KEYED("schedulingGates", "name", NULL),
    KEYED("resourceClaims", "name", NULL),
    END,
}};

static const struct strategic_type pod_status = {(const struct strategic_field[]){
    KEYED("conditions", "type", NULL),
    KEYED("hostIPs", "ip", NULL),
    KEYED("podIPs", "ip", NULL),
    KEYED("resourceClaimStatuses", "name", NULL),
    END,
}};

static const struct strategic_type pod = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    STRUCT("spec", &pod_spec),
    STRUCT("status", &pod_status),
    END,
}};

static const struct strategic_type pod_template_spec = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    STRUCT("spec", &pod_spec),
    END,
}};

static const struct strategic_type pod_template = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    STRUCT("template", &pod_template_spec),
    END,
}};

static const struct strategic_type conditions_only = {(const struct strategic_field[]){
    KEYED("conditions", "type", NULL),
    END,
}};

static const struct strategic_type namespace_type = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    STRUCT("status", &conditions_only),
    END,
}};

static const struct strategic_type node_spec = {(const struct strategic_field[]){
    SET("podCIDRs"),
    END,
}};

static const struct strategic_type node_status = {(const struct strategic_field[]){
    KEYED("conditions", "type", NULL),
    KEYED("addresses", "type", NULL),
    END,
}};

static const struct strategic_type node = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    STRUCT("spec", &node_spec),
    STRUCT("status", &node_status),
    END,
}};

/* Secret, Event, Lease, ConfigMap: nothing but the metadata. */
static const struct strategic_type metadata_only = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    END,
}};

static const struct strategic_type task_process = {(const struct strategic_field[]){
    KEYED("env", "name", NULL),
    END,
}};

static const struct strategic_type task_spec = {(const struct strategic_field[]){
    STRUCT("process", &task_process),
    END,
}};

static const struct strategic_type task_template_spec = {(const struct strategic_field[]){
    STRUCT("metadata", &object_meta),
    STRUCT("spec", &task_spec),
    END,
}};

static const struct {
    const char *kind;
    const struct strategic_type *type;
} KINDS[] = {
    {"Pod", &pod},
    {"PodSpec", &pod_spec},
    {"PodTemplate", &pod_template},
    {"PodTemplateSpec", &pod_template_spec},
    {"Container", &container},
    {"Namespace", &namespace_type},
    {"Node", &node},
    {"Secret", &metadata_only},
    {"ConfigMap", &metadata_only},
    {"Event", &metadata_only},
    {"Lease", &metadata_only},
    {"TaskTemplateSpec", &task_template_spec},
};

const struct strategic_type *strategic_type_of_kind(const char *kind)
{
    for (size_t i = 0; kind && i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (strcmp(KINDS[i].kind, kind) == 0)
            return KINDS[i].type;
    return NULL;
}

const struct strategic_field *strategic_field_of(const struct strategic_type *type,
                                                 struct osb_slice name)
{
    for (const struct strategic_field *field = type ? type->fields : NULL; field && field->name;
         field++)
        if (osb_slice_eq_str(name, field->name))
            return field;
    return NULL;
}
