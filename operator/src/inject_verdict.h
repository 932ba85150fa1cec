// SPDX-License-Identifier: Apache-2.0
/*
 * Tells a pod that fails because execd did not get into it from one that fails for reasons of its
 * own, by the words of kubelets and runtimes. What helps then is something an administrator does,
 * not the user of the sandbox.
 */
#ifndef OPERATOR_INJECT_VERDICT_H
#define OPERATOR_INJECT_VERDICT_H

#include "pod_verdict.h"

#define REASON_INJECTION "InjectionUnavailable"

/*
 * Looks at the VERDICT that a marked POD has ended or is failing, and may give it another reason
 * and an advice.
 */
void inject_verdict(const struct pod *pod, struct verdict *verdict);

#endif
