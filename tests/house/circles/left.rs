//! Circles of modules that are left.

/// The crate, the modules of one circle, and the reason. A module is deleted here once the module is out of its circle.
pub const LEFT: &[(&str, &str, &str)] = &[
    ("torr-session", "filter pattern template", "a template holds filters, and a pattern of a filter is a template"),
    (
        "torr-session",
        "hurl::body hurl::expression hurl::filter hurl::json hurl::template hurl::value",
        "the grammar is recursive: a template has an expression, whose filters have templates",
    ),
];

/// Crates whose top modules form circles. A crate is deleted here once its top modules form none.
pub const ROOMS_LEFT: &[&str] = &["bench", "torr-gauge", "torr-press", "torr-session"];
