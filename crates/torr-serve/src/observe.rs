//! The reports of a server: the access log, the metrics, and lines for its operator.

pub(crate) mod access_log;
pub(crate) mod metric;
pub(crate) mod metrics_table;
pub(crate) mod notice;
mod output;
pub(crate) mod standard_error;
pub(crate) mod telemetry;
