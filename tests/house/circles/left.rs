//! Circles of modules that are left.

/// The crate, the modules of one circle, and the reason. A module is deleted here once the module is out of its circle.
pub const LEFT: &[(&str, &str, &str)] = &[
    (
        "bench",
        "archive built candidates candidates::arguments candidates::load_settings candidates::loads \
         candidates::nginx candidates::server_settings candidates::servers child cli cpu crate data \
         data::candidates data::check data::compare data::database data::figures data::report data::turns \
         floor::client floor::server launch limits machine measure press probe profile profile::plot \
         profile::report profile::sampling profile::turns reload report roster rounds scenario sessions turn",
        "modules use items of the root and of candidates, which call them",
    ),
    (
        "clinic",
        "cli crate environment::ports environment::process environment::resources relay run service \
         service::database service::event_loop service::handler service::limiter service::listener \
         service::threads service::worker_pool",
        "commands take their options and errors from the root, which calls them",
    ),
    (
        "clinic",
        "subjects subjects::contention subjects::cpu subjects::healthy",
        "subjects are built by functions of the module that lists them",
    ),
    ("torr-session", "filter pattern template", "a template holds filters, and a pattern of a filter is a template"),
    (
        "torr-session",
        "hurl::body hurl::expression hurl::filter hurl::json hurl::template hurl::value",
        "the grammar is recursive: a template has an expression, whose filters have templates",
    ),
];
