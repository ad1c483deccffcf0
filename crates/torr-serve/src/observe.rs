//! The reports of a server on its requests: the access log and the metrics.

pub(crate) mod access_log;
pub(crate) mod metric;
pub(crate) mod metrics_table;
pub(crate) mod telemetry;
pub(crate) mod visit;
