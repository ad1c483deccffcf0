//! Sentences on a scheduled rate that was not kept, and on the highest one that was allowed.

use super::parts::counted;
use crate::human::{per_second, percent, plural, seconds};
use torr_gauge::verdict::{Fact, Unit};

/// Returns the sentence of a fact about a rate; nothing for any other fact.
pub(super) fn fact(fact: &Fact) -> String {
    match fact {
        Fact::RateCapped { unit, rps, cap_rps } => {
            let what = if *unit == Unit::Request { "the service responded at" } else { "sessions began at" };
            format!("{what} {}, and --max-rate allows {}", per_second(*rps), per_second(*cap_rps))
        }
        Fact::RateLostWithAgent { agent } => {
            format!("the rate was not kept: after agent {agent} ended, its part of the load was not sent")
        }
        Fact::RateMissed { unit, due, share } => {
            let what = if *unit == Unit::Request { "had no response" } else { "had not ended" };
            let due = counted(*unit, *due);
            format!("the rate was not kept: {} of {due} that were due {what} when the run ended", percent(*share))
        }
        Fact::RateLate { due, last_due_s, ended_s } => format!(
            "the rate was not kept: the last of {} was due after {}, and the last response came after {}",
            plural(*due, "request"),
            seconds(*last_due_s),
            seconds(*ended_s)
        ),
        Fact::RateAbandoned { unit, due, share, patience_s } => format!(
            "the rate was not kept: {} of {} that were due found no {} within {} (--patience), and were not sent",
            percent(*share),
            counted(*unit, *due),
            if *unit == Unit::Request { "connection" } else { "user" },
            seconds(*patience_s)
        ),
        _ => String::new(),
    }
}
