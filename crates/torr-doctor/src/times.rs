//! The times of an experiment's requests and connections, as the few figures that rules read: they fit into a recording, which
//! histograms do not.

use crate::stops::Stops;
use crate::thresholds::{ACK_DELAYS_S, ALIKE, FEW_ALONE, SCATTERED, SYN_TIMEOUT_US};
use serde::{Deserialize, Serialize};
use torr_gauge::{Latency, RunResult, Sample};

/// The time after the begin of a run within which its first responses are counted, in seconds. Samples are taken every 50 ms.
const BEGIN_S: f64 = 0.101;

/// Times of one experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Response times of requests that were answered in full.
    pub answered: Option<Spread>,
    /// Ages of requests that were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Spread>,
    /// Times to connect.
    pub connect: Option<Spread>,
    /// Times of TLS handshakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Spread>,
    /// The time between first and last byte, in seconds, as a mean over all responses.
    #[serde(default)]
    pub sending_s: f64,
    /// Connections that took longer than the time after which a SYN is sent again.
    #[serde(default)]
    pub late_connects: u64,
    /// Responses that took as long as an acknowledgement is held back, beside the round trip.
    #[serde(default)]
    pub ack_delayed: u64,
    /// Responses within the first tenth of a second; 0 if they were not sampled so often.
    #[serde(default)]
    pub first_tenth: u64,
    /// The life of an idle connection that the server closed, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_idle_s: Option<f64>,
    /// Stops at the same point of each period, where samples were frequent enough to show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
}

/// The figures of a distribution in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// The least.
    pub min_us: u64,
    /// The mean.
    pub mean_us: f64,
    /// The median, however few there are.
    pub median_us: f64,
    /// The quartiles, however few there are. `None` in a recording of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quartiles_us: Option<(f64, f64)>,
}

impl Spread {
    /// Returns the figures of a histogram. `None` if nothing was recorded in it.
    pub fn of(latency: &Latency) -> Option<Self> {
        let histogram = latency.histogram();
        let quantile = |share| histogram.value_at_quantile(share) as f64;
        (latency.count() > 0).then(|| Self {
            count: latency.count(),
            min_us: histogram.min(),
            mean_us: histogram.mean(),
            median_us: quantile(0.5),
            quartiles_us: Some((quantile(0.25), quantile(0.75))),
        })
    }

    /// Returns the time that one of them takes on average, in microseconds: the mean; the median of few that are alike but for some
    /// exceptions, of which one would change the mean of few by much.
    pub fn typical_us(&self) -> f64 {
        let are_alike = self.quartiles_us.is_some_and(|(low, high)| high <= ALIKE * low);
        if self.count < FEW_ALONE && are_alike { self.median_us.min(self.mean_us) } else { self.mean_us }
    }

    /// Returns whether they are so few, and some of them so slow, that their mean says little.
    pub fn is_scattered(&self) -> bool {
        self.count < FEW_ALONE && self.mean_us > SCATTERED * self.median_us
    }

    /// Returns the sum in seconds.
    pub fn sum_s(&self) -> f64 {
        self.mean_us * self.count as f64 / 1e6
    }
}

impl Times {
    /// Returns the times of a run. `warm_connects` are the times to connect of its warm-up, in which most connections are opened.
    pub fn of(run: &RunResult, sample: &Sample, warm_connects: &Latency) -> Self {
        let mut connects = sample.connect.clone();
        connects.add(warm_connects);
        let connect = Spread::of(&connects);
        let least = [connect.map(|connect| connect.min_us), run.sockets.and_then(|sockets| sockets.min_rtt_us)];
        let round_trip_s = least.into_iter().flatten().min().unwrap_or(0) as f64 / 1e6;
        let begin = run.series.iter().take_while(|point| point.t <= BEGIN_S);
        Self {
            answered: Spread::of(&sample.answered),
            unanswered: Spread::of(&sample.unanswered),
            connect,
            tls: Spread::of(&sample.tls),
            sending_s: (sample.last_apart.sum() - sample.first_apart.sum()).max(0.0)
                / 1e6
                / sample.answered.count().max(1) as f64,
            late_connects: connects.count() - connects.up_to(SYN_TIMEOUT_US),
            ack_delayed: ack_delayed(&sample.answered, round_trip_s),
            first_tenth: begin.map(|point| point.requests).sum(),
            ended_idle_s: sample.ended_idle.map(|nanos| nanos as f64 / 1e9),
            stops: Stops::of(&run.series),
        }
    }
}

/// Returns the number of responses that took as long as an acknowledgement is held back.
fn ack_delayed(answered: &Latency, round_trip_s: f64) -> u64 {
    let within = ACK_DELAYS_S.iter().map(|(from, to)| {
        let us = |s: f64| ((s + round_trip_s) * 1e6) as u64;
        answered.up_to(us(*to)) - answered.up_to(us(*from))
    });
    within.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the figures of responses that took so many milliseconds.
    fn spread(millis: &[u64]) -> Spread {
        let mut latency = Latency::default();
        millis.iter().for_each(|millis| latency.record(millis * 1_000_000));
        Spread::of(&latency).expect("some were recorded")
    }

    #[test]
    fn one_slow_response_among_a_few_does_not_change_the_time_alone() {
        let about = |us: f64, millis: f64| (us / 1000.0 - millis).abs() < 0.02 * millis;
        let queued = spread(&[580, 201, 202, 201, 201, 203, 201]);
        assert!(queued.is_scattered() && about(queued.typical_us(), 201.0), "{queued:?}");
        let calm = spread(&[201, 202, 201, 201, 203, 201, 202]);
        assert!(!calm.is_scattered() && about(calm.typical_us(), 201.6), "{calm:?}");
        // Two of five are slow: that is what the service does.
        let mixed = spread(&[10, 50, 10, 50, 10]);
        assert!(mixed.is_scattered() && about(mixed.typical_us(), 26.0), "{mixed:?}");
        // Of many, the slow ones are counted with the right weight.
        let many = spread(&[[10; 9].as_slice(), &[100]].concat().repeat(10));
        assert!(!many.is_scattered() && about(many.typical_us(), 19.0), "{many:?}");
    }
}
