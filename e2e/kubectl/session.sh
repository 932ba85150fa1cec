# SPDX-License-Identifier: Apache-2.0
# One scripted kubectl session; sourced by the suite once a version of kubectl, with $kubectl, $ns and
# $version set. A case that needs what an earlier one made says so by its order.
# shellcheck shell=bash

kc() {
    "$kubectl" --namespace "$ns" --request-timeout=30s "$@"
}

field() {
    kc get "$1" -o "jsonpath={$2}"
}

namespace_is_made() {
    kc create namespace "$ns" && is "$(field "namespace/$ns" .status.phase)" Active
}

resources_are_listed() {
    local out
    out=$(kc api-resources --api-group=sandbox.opensandbox.io) || return
    has "$out" '^batchsandboxes +bsbx +sandbox.opensandbox.io/v1alpha1 +true +BatchSandbox$' &&
        has "$out" '^pools +sandbox.opensandbox.io/v1alpha1 +true +Pool$' &&
        has "$out" '^sandboxsnapshots +sbxsnap +sandbox.opensandbox.io/v1alpha1 +true +SandboxSnapshot$' &&
        has "$(kc api-resources --api-group=)" '^secrets +v1 +true +Secret$'
}

fields_are_explained() {
    has "$(kc explain batchsandbox.spec.replicas 2>&1)" 'Wanted number of pods'
}

apply_is_repeatable() {
    has "$(batchsandbox one 1 blue | kc apply -f - 2>&1)" 'batchsandbox.sandbox.opensandbox.io/one created' &&
        has "$(batchsandbox one 1 blue | kc apply -f - 2>&1)" '/one unchanged' &&
        has "$(batchsandbox one 2 red | kc apply -f - 2>&1)" '/one configured' &&
        is "$(field bsbx/one '.spec.replicas},{.metadata.labels.team')" 2,red
}

core_objects_are_applied() {
    local secret='{"apiVersion":"v1","kind":"Secret","metadata":{"name":"applied"},"stringData":{"k":"VALUE"}}'
    has "$(kc apply -f - <<<"$secret" 2>&1)" 'secret/applied created' &&
        has "$(kc apply -f - <<<"${secret/VALUE/other}" 2>&1)" 'secret/applied configured' &&
        is "$(field secret/applied .data.k | base64 -d)" other
}

secrets_are_created() {
    kc create secret generic made --from-literal=user=me --from-literal=word=hidden &&
        is "$(field secret/made .data.user | base64 -d)" me &&
        fails 'already exists' kc create secret generic made --from-literal=a=b
}

pools_are_created() {
    pool warm 1 | kc create -f - &&
        has "$(kc get pools)" '^NAME +TOTAL +ALLOCATED +AVAILABLE +UPDATED +AGE$' &&
        is "$(field pool/warm .spec.scaleStrategy.maxUnavailable)" 50%
}

bad_objects_are_refused() {
    fails 'unknown field "spec.replicass"' kc apply -f - < <(batchsandbox bad 1 x | sed 's/replicas/replicass/') &&
        fails 'capacitySpec.bufferMin.*greater than or equal to 0' kc create -f - < <(pool bad -1) &&
        fails 'replicas.*(integer|type)' kc create --validate=false -f - < <(batchsandbox bad '"two"' x) &&
        fails 'not found' kc get bsbx/bad
}

columns_are_shown() {
    has "$(kc get bsbx)" '^NAME +DESIRED +TOTAL +ALLOCATED +READY +EXPIRE +AGE$' &&
        has "$(kc get bsbx -o wide)" 'TASK_RUNNING +TASK_SUCCEED +TASK_FAILED +TASK_UNKNOWN +EXPIRE +AGE$' &&
        has "$(kc get bsbx one)" '^one +2 '
}

output_forms_work() {
    is "$(kc get bsbx -o name)" batchsandbox.sandbox.opensandbox.io/one &&
        is "$(kc get bsbx one -o json | /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["kind"])')" BatchSandbox &&
        has "$(kc get bsbx one -o yaml)" '^kind: BatchSandbox$' &&
        is "$(kc get bsbx -o 'jsonpath={.items[*].spec.replicas}')" 2 &&
        has "$(kc get bsbx,secrets -o name)" '^secret/made$'
}

selectors_select() {
    batchsandbox two 0 green | kc create -f - &&
        is "$(kc get bsbx -l team=green -o name)" batchsandbox.sandbox.opensandbox.io/two &&
        is "$(kc get bsbx -l 'team in (red,green)' -o name | wc -l)" 2 &&
        is "$(kc get bsbx -l 'team!=red' -o name | wc -l)" 1 &&
        is "$(kc get bsbx -l '!team' -o name)" "" &&
        is "$(kc get bsbx --field-selector metadata.name=one -o name | wc -l)" 1
}

lists_are_paged() {
    local i
    for i in 1 2 3 4 5; do kc create secret generic "page-$i" --from-literal=a=b || return; done
    is "$(kc get secrets --chunk-size=2 -o name | grep -c page-)" 5
}

condition_is_waited_for() {
    kc wait --for=condition=Ready bsbx/one --timeout=60s &&
        kc wait --for='jsonpath={.status.phase}=Succeed' bsbx/one --timeout=10s &&
        is "$(field bsbx/one '.status.ready},{.status.replicas')" 2,2 &&
        has "$(kc get pods)" '^one-1 +1/1 +Running '
}

logs_are_read() {
    has "$(kc logs one-0)" '^speaking from one-0$' &&
        is "$(kc logs one-1 -c sandbox --tail=1)" 'speaking from one-1' &&
        fails 'not found' kc logs none
}

watch_shows_changes() {
    local out=$OSB_TEST_TMP/watch watcher rc
    "$kubectl" --namespace "$ns" get bsbx two -w -o 'jsonpath={.metadata.annotations.step}{"\n"}' >"$out" &
    watcher=$!
    within 10 test -s "$out" && kc annotate bsbx/two step=1 && within 10 grep -qx 1 "$out" &&
        kc annotate bsbx/two step=2 --overwrite && within 10 grep -qx 2 "$out"
    rc=$?
    kill $watcher
    wait $watcher 2>/dev/null
    return $rc
}

patches_are_applied() {
    kc patch bsbx two --type=merge -p '{"spec":{"expireTime":"2099-01-01T00:00:00Z"}}' &&
        is "$(field bsbx/two .spec.expireTime)" 2099-01-01T00:00:00Z &&
        kc patch bsbx two --type=json -p '[{"op":"remove","path":"/spec/expireTime"}]' &&
        is "$(field bsbx/two .spec.expireTime)" "" &&
        kc patch secret made -p '{"data":{"user":null,"more":"eA=="}}' &&
        is "$(field secret/made '.data.user}{.data.more')" eA== &&
        fails 'replicas' kc patch bsbx two --type=merge -p '{"spec":{"replicas":"many"}}'
}

labels_and_annotations_change() {
    kc label bsbx/two stage=test && is "$(field bsbx/two .metadata.labels.stage)" test &&
        fails 'overwrite' kc label bsbx/two stage=prod && kc label bsbx/two stage- &&
        is "$(field bsbx/two .metadata.labels.stage)" "" &&
        kc annotate bsbx/two note='some text' && is "$(field bsbx/two .metadata.annotations.note)" 'some text'
}

scale_sets_replicas() {
    kc scale bsbx/one --replicas=1 && is "$(field bsbx/one .spec.replicas)" 1 &&
        fails 'replicas' kc scale bsbx/one --current-replicas=5 --replicas=2 &&
        kc wait --for='jsonpath={.status.replicas}=1' bsbx/one --timeout=30s
}

stale_writes_are_refused() {
    local old=$OSB_TEST_TMP/old.json
    kc get bsbx two -o json >"$old" && kc annotate bsbx/two fresh=yes &&
        fails 'the object has been modified' kc replace -f "$old"
}

events_are_described() {
    has "$(kc describe bsbx one)" '^Events:' && has "$(kc describe bsbx one)" 'Normal '
}

objects_are_deleted() {
    kc delete bsbx one --timeout=60s && fails 'not found' kc get bsbx one &&
        kc wait --for=delete pod/one-0 --timeout=30s &&
        kc delete secrets -l none=none && kc delete bsbx -l team=green &&
        is "$(kc get bsbx -o name)" "" && fails 'not found' kc delete bsbx one
}

namespace_takes_its_content() {
    "$kubectl" delete namespace "$ns" --timeout=60s && fails 'not found' kc get namespace "$ns" &&
        is "$(kc get secrets,pools -o name 2>/dev/null)" ""
}

for step in namespace_is_made resources_are_listed fields_are_explained apply_is_repeatable \
    core_objects_are_applied secrets_are_created pools_are_created bad_objects_are_refused \
    columns_are_shown output_forms_work selectors_select lists_are_paged condition_is_waited_for \
    logs_are_read watch_shows_changes patches_are_applied labels_and_annotations_change \
    scale_sets_replicas stale_writes_are_refused events_are_described objects_are_deleted \
    namespace_takes_its_content; do
    check "kubectl $version: ${step//_/ }" $step
done
