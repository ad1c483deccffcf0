//! Why something is left out, where several importers have the same reason.

/// Why the credentials of an authentication scheme are left out.
pub(crate) const AUTHENTICATION: &str = "this authentication scheme is not supported";

/// Why a function's value is not the one that it has in the source.
pub(crate) const CONSTANT: &str = "no counterpart: replaced by a constant";

/// Why what a function of a script does is left out.
pub(crate) const FUNCTION: &str = "functions in JavaScript are not supported";

/// Why a regular expression is left out.
pub(crate) const OTHER_REGEX: &str = "this regular expression syntax is not supported";

/// Why a JSONPath is left out.
pub(crate) const OTHER_JSON_PATH: &str = "this JSONPath syntax is not supported";
