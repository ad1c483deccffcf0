//! A server that speaks TLS, seen by clients on the rustls crate.

mod ends;
mod handshakes;
mod identities;
mod scene;
mod talking;
mod upgrades;
