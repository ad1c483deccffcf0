//! Circles of modules that are left.

/// The crate, the modules of one circle, and the reason. A module is deleted here once the module is out of its circle.
pub const LEFT: &[(&str, &str, &str)] = &[
    (
        "bench",
        "archive built child cli cpu crate launch limits machine measure press probe reload report roster \
         rounds scenario scrape serve turn",
        "commands take their options, limits and errors from the root, which calls them",
    ),
    (
        "bench",
        "candidates::arguments candidates::loads",
        "a candidate holds functions of the module that lists the candidates",
    ),
    (
        "bench",
        "candidates::nginx candidates::servers",
        "a candidate holds functions of the module that lists the candidates",
    ),
    ("bench", "data::check data::database", "a check opens databases, which are checked when they open"),
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
        "acks contrast gain keep_alive laboratory turns ward",
        "experiments and the laboratory call each other until all are rules (issue 18, part 2)",
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
    (
        "torr-gauge",
        "result validity validity::ends validity::pace validity::steady",
        "the result holds its validity, which is judged by the result",
    ),
    (
        "torr-gauge",
        "signals signals::cgroup signals::reading",
        "a reading names the role that its parent defines, and the parent holds readings",
    ),
    ("torr-session", "filter pattern template", "a template holds filters, and a pattern of a filter is a template"),
    (
        "torr-session",
        "hurl::body hurl::expression hurl::filter hurl::json hurl::template hurl::value",
        "the grammar is recursive: a template has an expression, whose filters have templates",
    ),
];
