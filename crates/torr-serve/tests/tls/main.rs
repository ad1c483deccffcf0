//! A server that speaks TLS, seen by clients on the rustls crate.

#[path = "../../../../tests/support/certificates.rs"]
#[allow(dead_code, reason = "each test program uses its part of this")]
mod certificates;
mod ends;
mod handshakes;
mod identities;
mod scene;
#[path = "../support/mod.rs"]
mod support;
mod talking;
mod upgrades;
