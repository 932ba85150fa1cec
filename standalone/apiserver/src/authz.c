// SPDX-License-Identifier: Apache-2.0
#include "authz.h"

#define GROUP_ADMIN    "system:masters"
#define GROUP_OPERATOR "opensandbox:operator"
#define GROUP_NODE     "system:nodes"

enum {
    V_READ = 1 << VERB_GET | 1 << VERB_LIST | 1 << VERB_WATCH,
    V_WRITE = 1 << VERB_CREATE | 1 << VERB_UPDATE | 1 << VERB_PATCH,
    V_CHANGE = 1 << VERB_UPDATE | 1 << VERB_PATCH,
    V_DELETE = 1 << VERB_DELETE,
    V_ALL = V_READ | V_WRITE | V_DELETE | 1 << VERB_DELETE_COLLECTION,
};

/* One line: the role may use these verbs on the resource or its subresource ("" for none). */
struct rule {
    const char *resource; /* storage name */
    const char *sub;
    int verbs;
};

static const struct rule operator_rules[] = {
    {"batchsandboxes.sandbox.opensandbox.io", "", V_ALL},
    {"batchsandboxes.sandbox.opensandbox.io", "status", V_READ | V_CHANGE},
    {"batchsandboxes.sandbox.opensandbox.io", "scale", V_READ | V_CHANGE},
    {"pools.sandbox.opensandbox.io", "", V_ALL},
    {"pools.sandbox.opensandbox.io", "status", V_READ | V_CHANGE},
    {"sandboxsnapshots.sandbox.opensandbox.io", "", V_ALL},
    {"sandboxsnapshots.sandbox.opensandbox.io", "status", V_READ | V_CHANGE},
    {"pods", "", V_ALL},
    {"pods", "status", V_READ | V_CHANGE},
    {"pods", "log", V_READ},
    {"secrets", "", V_ALL},
    {"events", "", V_ALL},
    {"namespaces", "", V_READ | 1 << VERB_CREATE},
    {"nodes", "", V_READ},
    {"leases.coordination.k8s.io", "", V_ALL},
    {NULL, NULL, 0},
};

static const struct rule node_rules[] = {
    {"pods", "", V_READ | V_DELETE},
    {"pods", "status", V_READ | V_CHANGE},
    {"secrets", "", V_READ},
    {"namespaces", "", V_READ},
    {"events", "", V_WRITE},
    {"nodes", "", V_READ | V_CHANGE},
    {"nodes", "status", V_READ | V_CHANGE},
    {"leases.coordination.k8s.io", "", V_READ | V_WRITE},
    {NULL, NULL, 0},
};

static bool is_one_of(const char *value, const char *wanted)
{
    return value && !strcmp(value, wanted);
}

static const struct rule *rules_of(const struct identity *who)
{
    if (is_one_of(who->group, GROUP_OPERATOR))
        return operator_rules;
    if (is_one_of(who->group, GROUP_NODE))
        return node_rules;
    return NULL;
}

bool authz_is_known(const struct identity *who)
{
    return who->user && who->user[0];
}

bool authz_allows(const struct identity *who, const struct request *q)
{
    if (!authz_is_known(who))
        return false;
    if (is_one_of(who->group, GROUP_ADMIN))
        return true;
    for (const struct rule *rule = rules_of(who); rule && rule->resource; rule++)
        if (!strcmp(rule->resource, q->resource->storage_name) && !strcmp(rule->sub, q->sub_name))
            return rule->verbs & (1 << q->verb);
    return false;
}

int authz_refuse(const struct identity *who, const struct request *q, struct refusal *refusal)
{
    const struct osb_api_kind *kind = &q->resource->kind;
    char where[320] = "at the cluster scope";
    if (q->namespace_)
        snprintf(where, sizeof(where), "in the namespace \"%s\"", q->namespace_);
    return refuse_forbidden(refusal, kind, q->name,
                            "User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\" %s",
                            who->user, verb_name(q->verb), kind->plural, q->sub_name[0] ? "/" : "",
                            q->sub_name, kind->group, where);
}
