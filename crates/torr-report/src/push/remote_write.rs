//! The remote-write protocol of Prometheus 1.0, with native histograms: protobuf, compressed by Snappy.

use crate::exponential::Exponential;
use crate::families::{self, Labels, Samples};
use prost::Message;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};
use torr_gauge::collector::Measurement;
use torr_gauge::machine::host_name;
use torr_gauge::{Latency, RunResult};

/// The header fields of a request.
pub(super) const HEADERS: [(&str, &str); 3] = [
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
];

/// The name of this machine, by which the series of several generators differ.
static INSTANCE: LazyLock<String> = LazyLock::new(|| host_name().unwrap_or_else(|| "localhost".to_owned()));

#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    series: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    histograms: Vec<NativeHistogram>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    at_ms: i64,
}

#[derive(Clone, PartialEq, Message)]
struct NativeHistogram {
    #[prost(uint64, tag = "1")]
    count: u64,
    #[prost(double, tag = "3")]
    sum: f64,
    #[prost(sint32, tag = "4")]
    schema: i32,
    #[prost(double, tag = "5")]
    zero_threshold: f64,
    /// Present where it is 0 too: it tells that counts are whole numbers.
    #[prost(uint64, optional, tag = "6")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "11")]
    positive_spans: Vec<BucketSpan>,
    /// The count of the first bucket, then the difference of each count to the one before.
    #[prost(sint64, repeated, tag = "12")]
    positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    at_ms: i64,
}

#[derive(Clone, PartialEq, Message)]
struct BucketSpan {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

/// Returns the content of a request with the figures of a run at a time.
pub(super) fn content(run: &Measurement, now: SystemTime) -> Vec<u8> {
    let at_ms = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    let mut series = Vec::new();
    for family in families::of(run) {
        let mut add = |own: &Labels, samples, histograms| {
            series.push(TimeSeries { labels: labels(&run.result, family.name, own), samples, histograms });
        };
        match &family.samples {
            Samples::Counters(all) => {
                all.iter().for_each(|(own, n)| add(own, vec![Sample { value: *n as f64, at_ms }], Vec::new()));
            }
            Samples::Gauges(all) => {
                all.iter().for_each(|(own, value)| add(own, vec![Sample { value: *value, at_ms }], Vec::new()));
            }
            Samples::Times(all) => {
                all.iter().for_each(|(own, latency)| add(own, Vec::new(), vec![histogram(latency, at_ms)]));
            }
        }
    }
    let plain = WriteRequest { series }.encode_to_vec();
    snap::raw::Encoder::new().compress_vec(&plain).expect("the figures of a run are far shorter than 4 GiB")
}

/// Returns all labels of a series, in the order of their names, as the protocol demands.
fn labels(run: &RunResult, name: &str, own: &Labels) -> Vec<Label> {
    let of_run = [("__name__", name), ("job", "torr"), ("instance", INSTANCE.as_str())];
    let shared = of_run.into_iter().chain(families::labels(run));
    let all = shared.chain(own.iter().map(|(name, value)| (*name, value.as_str())));
    // A label without a value is no label.
    let all = all.filter(|(_, value)| !value.is_empty());
    let mut all: Vec<_> = all.map(|(name, value)| Label { name: name.to_owned(), value: value.to_owned() }).collect();
    all.sort_unstable();
    all
}

fn histogram(latency: &Latency, at_ms: i64) -> NativeHistogram {
    let Exponential { scale, first, counts } = Exponential::of(latency);
    let mut before = 0;
    let deltas = counts.iter().map(|&count| count as i64 - std::mem::replace(&mut before, count as i64)).collect();
    // A bucket of Prometheus is named by its upper bound.
    let span = BucketSpan { offset: first + 1, length: counts.len() as u32 };
    NativeHistogram {
        count: latency.count(),
        sum: latency.sum() / 1e6,
        schema: scale,
        zero_threshold: 0.0,
        zero_count: Some(0),
        positive_spans: if counts.is_empty() { Vec::new() } else { vec![span] },
        positive_deltas: deltas,
        at_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use torr_gauge::collector::RunFacts;
    use torr_gauge::{Collector, Sample as Counts};

    #[test]
    fn series_have_sorted_labels_and_times_are_native_histograms() {
        let mut counts = Counts::default();
        (1..=1000).for_each(|ms| counts.answered.record(ms * 1_000_000));
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &counts, true);
        let run = collector.finish(RunFacts { target: "http://h/".into(), ..RunFacts::default() });
        let bytes = content(&run, UNIX_EPOCH + Duration::from_secs(7));
        let plain = snap::raw::Decoder::new().decompress_vec(&bytes).expect("it is compressed");
        let all = WriteRequest::decode(&plain[..]).expect("it is protobuf").series;
        for series in &all {
            let names: Vec<_> = series.labels.iter().map(|label| label.name.as_str()).collect();
            assert!(
                names.is_sorted() && ["__name__", "instance", "job"].iter().all(|name| names.contains(name)),
                "{names:?}"
            );
        }
        let times = all.iter().find(|series| series.labels[0].value == "torr_latency_seconds").expect("it is there");
        let [histogram] = &times.histograms[..] else { panic!("{times:?}") };
        assert_eq!((histogram.count, histogram.at_ms, times.samples.len()), (1000, 7000, 0));
        let mut count = 0;
        let counts = histogram.positive_deltas.iter().map(|delta| {
            count += delta;
            count
        });
        let counts: Vec<_> = counts.collect();
        assert_eq!(counts.iter().sum::<i64>(), 1000);
        // The upper bound of the last bucket is the first at 1 s or above.
        let BucketSpan { offset, length } = histogram.positive_spans[0];
        let base = f64::from(-histogram.schema).exp2().exp2();
        let last = base.powi(offset + length as i32 - 1);
        assert!(last >= 0.999 && last / base < 1.001 && counts.len() == length as usize, "{histogram:?}");
    }
}
