//! Tests that need root, for network namespaces and mounts of their own: `cargo test -p torr --test root`.
//!
//! Where the kernel does not allow them, each says so, and fails under `TORR_ALL_TESTS=1`.

mod fleet;
mod kernel;
mod ports;
