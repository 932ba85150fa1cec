// SPDX-License-Identifier: Apache-2.0
/*
 * OpenAPI v3: an index, and a document for each group and version. kubectl does not create or apply
 * without it: it looks for the PATCH operation of the kind and its fieldValidation and dryRun
 * parameters, and explains fields from the components.
 */
#ifndef OPENAPI_H
#define OPENAPI_H

#include "resource.h"

#include <osb/buf.h>

/* Answers /openapi/v3 and what is below it; false when PATH is not of these. */
bool openapi_document(const struct registry *registry, struct osb_slice path, struct osb_buf *out);

/*
 * The second version of OpenAPI, without a definition: clients that ask for it look for kinds that
 * are not served, and would take its absence for a broken server.
 */
#define OPENAPI_V2_PATH     "/openapi/v2"
#define OPENAPI_V2_ASKED    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
#define OPENAPI_V2_PROTOBUF "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
struct osb_slice openapi_v2_document(bool is_protobuf);

#endif
