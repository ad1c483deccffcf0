//! Why something is left out, where several importers have the same reason.

/// Why the credentials of an authentication scheme are left out.
pub(crate) const AUTHENTICATION: &str = "this authentication scheme is not supported";

/// Why a function's value is not the one that it has in the source.
pub(crate) const CONSTANT: &str = "no counterpart: replaced by a constant";
