//! Circles of modules that are left.

/// The crate, the modules of one circle, and the reason. A module is deleted here once the module is out of its circle.
pub const LEFT: &[(&str, &str, &str)] = &[];

/// Crates whose top modules form circles. A crate is deleted here once its top modules form none.
pub const ROOMS_LEFT: &[&str] = &["bench"];
