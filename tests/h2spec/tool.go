//go:build tool

// Package h2spec is what tests/serve_h2spec.rs runs, in the versions that go.mod has; `./test` builds it.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
