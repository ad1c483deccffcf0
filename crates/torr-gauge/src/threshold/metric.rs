//! The metrics of rules, and the units of their limits.

use crate::{FailureKind, GrpcStatus};

/// What the names of statuses of gRPC begin with.
const OF_GRPC: &str = "grpc.";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Metric {
    Min,
    Mean,
    Stddev,
    Max,
    /// The share of samples below, 0 to 1.
    Percentile(f64),
    Rps,
    Errors,
    Kind(FailureKind),
    Grpc(GrpcStatus),
    Unfinished,
    Retries,
    FailedAsserts,
    SessionsFailed,
}

/// The unit of the limit and of the measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    Time {
        name: &'static str,
        us: f64,
    },
    /// A percentage of the started requests.
    Share,
    Number,
}

impl Metric {
    pub(super) fn parse(name: &str) -> Option<Self> {
        let kind = |name: &str| FailureKind::ALL.into_iter().find(|kind| kind.name() == name);
        Some(match name {
            "rps" => Self::Rps,
            "errors" => Self::Errors,
            "unfinished" => Self::Unfinished,
            "retries" => Self::Retries,
            "failed_asserts" => Self::FailedAsserts,
            "sessions_failed" => Self::SessionsFailed,
            name if name.starts_with(OF_GRPC) => Self::Grpc(GrpcStatus::of_name(&name[OF_GRPC.len()..])?),
            _ => match kind(name).or_else(|| kind(name.strip_suffix('s')?)) {
                Some(kind) => Self::Kind(kind),
                None => Self::time(name)?,
            },
        })
    }

    /// Parses the name of a metric of times.
    pub(super) fn time(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Self::Min,
            "mean" => Self::Mean,
            "stddev" => Self::Stddev,
            "max" => Self::Max,
            _ => Self::Percentile(percentile(name)?),
        })
    }

    /// Returns whether the metric is a time.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Min | Self::Mean | Self::Stddev | Self::Max | Self::Percentile(_))
    }

    /// Returns whether only runs with sessions have the metric.
    pub(super) fn is_of_sessions(self) -> bool {
        matches!(self, Self::Retries | Self::FailedAsserts | Self::SessionsFailed)
    }

    /// Returns the unit of the limit, where that is no plain number.
    pub(super) fn unit(self, unit: &str) -> Option<Unit> {
        let time = |name, us| Some(Unit::Time { name, us });
        match (self, unit) {
            (Self::Rps, _) => None,
            (metric, "us" | "µs") if metric.is_time() => time("us", 1.0),
            (metric, "ms") if metric.is_time() => time("ms", 1e3),
            (metric, "s") if metric.is_time() => time("s", 1e6),
            (metric, "m") if metric.is_time() => time("m", 60e6),
            (metric, "%") if !metric.is_time() => Some(Unit::Share),
            _ => None,
        }
    }
}

/// `p99.9` or `p99_9` as a share. Put together as text: a division by 100 may give the number next to the one meant.
fn percentile(name: &str) -> Option<f64> {
    let digits = name.strip_prefix('p')?.replace('_', ".");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=2).contains(&whole.len()) && all_digits(whole) && all_digits(fraction) && !digits.ends_with('.');
    format!("0.{whole:0>2}{fraction}").parse().ok().filter(|&share: &f64| fits && share > 0.0 && share < 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_one_that_is_meant() {
        for (name, share) in [("p50", 0.5), ("p5", 0.05), ("p99.9", 0.999), ("p99_99", 0.9999), ("p99.999", 0.99999)] {
            assert_eq!(Metric::parse(name), Some(Metric::Percentile(share)), "{name}");
        }
    }
}
