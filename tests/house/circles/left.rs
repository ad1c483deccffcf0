//! Circles of modules that are left.

/// The crate, the modules of one circle, and the reason. A module is deleted here once the module is out of its circle.
pub const LEFT: &[(&str, &str, &str)] = &[
    (
        "bench",
        "archive built candidates candidates::arguments candidates::load_settings candidates::loads \
         candidates::nginx candidates::server_settings candidates::servers child cli cpu crate data \
         data::candidates data::check data::compare data::database data::figures data::report data::turns \
         floor::client floor::server launch limits machine measure press probe profile profile::plot \
         profile::report profile::sampling profile::turns reload report roster rounds scenario turn",
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
    (
        "torr-doctor",
        "acks evidence keep_alive rules rules::addresses rules::allowed rules::connecting rules::cpu \
         rules::delayed_ack rules::disturbed rules::failing rules::generator rules::held_back \
         rules::proxy rules::rising rules::waiting survey",
        "rules, the survey and the evidence use items of each other (issue 18, part 2)",
    ),
    (
        "torr-doctor",
        "compare compare::measuring compare::paths compare::row compare::tls compare::via \
         compare::workers compare::workers::advising",
        "experiments of a comparison use items of the comparison, which calls them",
    ),
    (
        "torr-doctor",
        "limit limit::found limit::ladder limit::outcome limit::overload limit::search limit::trials \
         limit::words",
        "trials use items of the search, which runs trials",
    ),
    ("torr-doctor", "limit::disturbance limit::reading", "disturbance and reading use types of each other"),
    (
        "torr-doctor",
        "passive passive::behind passive::kept passive::wire",
        "witnesses use items of their parent, which calls them",
    ),
    ("torr-doctor", "remote remote::exchange", "the exchange uses items of its parent, which calls it"),
    ("torr-session", "filter pattern template", "a template holds filters, and a pattern of a filter is a template"),
    (
        "torr-session",
        "hurl::body hurl::expression hurl::filter hurl::json hurl::template hurl::value",
        "the grammar is recursive: a template has an expression, whose filters have templates",
    ),
];
