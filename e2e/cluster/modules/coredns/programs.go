// SPDX-License-Identifier: Apache-2.0

//go:build programs

// Package programs names the name server of the test cluster, so that go.mod pins it.
package programs

import _ "github.com/coredns/coredns"
