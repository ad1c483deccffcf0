//! The description of a plan in the result.

use super::{Plan, ThinkTime};
use crate::pace::Pace;
use crate::pace::open::Arrivals;
use crate::pace::schedule::Stretch;
use std::time::Duration;
use torr_gauge::result::{self, GRPC, PlanSummary, RateStage};

impl Plan {
    /// Returns the plan as it stands in the result, with the origins of all servers.
    pub fn summary(&self, origins: &[String]) -> PlanSummary {
        let events = self.steering.as_ref().map(|steering| steering.events()).unwrap_or_default();
        let steered = events.iter().any(|event| event.what.changes_load());
        PlanSummary {
            connections: self.connections,
            threads: Some(self.thread_count()),
            duration_s: self.duration.map(|d| d.as_secs_f64()),
            requests: self.requests,
            rate: match &self.pace {
                Pace::Open(schedule, _) => schedule.constant_rate().filter(|_| !steered),
                _ => None,
            },
            max_rate: self.pace.max_rate(),
            think_s: self
                .think
                .as_ref()
                .map(|ThinkTime { range }| [range.start(), range.end()].map(Duration::as_secs_f64)),
            arrivals: match &self.pace {
                Pace::Open(_, Arrivals::Constant) => Some(result::Arrivals::Constant),
                Pace::Open(_, Arrivals::Poisson) => Some(result::Arrivals::Poisson),
                Pace::Open(_, Arrivals::Logged) => Some(result::Arrivals::Logged),
                Pace::Fed(_) => Some(result::Arrivals::Replayed),
                _ => None,
            },
            coalesce_s: match &self.pace {
                Pace::Open(_, Arrivals::Constant) => Some(self.coalesce.as_secs_f64()).filter(|window| *window > 0.0),
                _ => None,
            },
            patience_s: self.patience.map(|patience| patience.as_secs_f64()),
            keep_alive: self.keep_alive,
            protocol: match () {
                () if self.work.is_websocket() => "websocket".into(),
                () if self.protocol.grpc.is_some() => GRPC.into(),
                () if self.protocol.http2 => "h2".into(),
                () if self.protocol.http3 => "h3".into(),
                () => "http/1.1".into(),
            },
            alt_svc: self.alt_svc.clone(),
            method: self.work.methods(),
            timeout_s: self.timeout.as_secs_f64(),
            staged: steered
                || match &self.pace {
                    Pace::Closed { connections, .. } => connections.is_some(),
                    Pace::Open(schedule, _) => schedule.constant_rate().is_none(),
                    Pace::Fed(_) => true,
                },
            stages: match &self.pace {
                Pace::Open(schedule, _) if !steered && schedule.constant_rate().is_none() => schedule
                    .stretches()
                    .map(|Stretch { length_s, from, to, .. }| RateStage { length_s, from, to })
                    .collect(),
                _ => Vec::new(),
            },
            depth: self.depth,
            warmup_s: (!self.warmup.is_zero()).then_some(self.warmup.as_secs_f64()),
            origins: if origins.len() > 1 { origins.to_vec() } else { Vec::new() },
            requests_per_connection: self.requests_per_connection.filter(|_| self.keep_alive),
        }
    }
}
