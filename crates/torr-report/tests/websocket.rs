//! WebSocket connections in CSV and OTLP, from counts that are known.

use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use std::time::Duration;
use torr_gauge::collector::{Measurement, RunFacts};
use torr_gauge::result::PlanSummary;
use torr_gauge::{Collector, Sample};
use torr_report::{csv, otlp};

/// A run of two seconds in whose first one the server pushed five messages, and in whose second one two; events or not.
fn run(are_events: bool) -> Measurement {
    let mut collector = Collector::new(1, Duration::from_secs(1));
    for (second, pushed) in [(0, 5), (1, 2)] {
        let mut sample = Sample::default();
        let websocket = sample.websocket.get_or_insert_default();
        websocket.handshakes.record(3_000_000);
        websocket.closed.insert(1000 + second as u16, 4);
        websocket.pings = 1;
        websocket.compressed = Some(3);
        if are_events {
            sample.streams.get_or_insert_default().events = pushed;
        } else {
            websocket.pushed = pushed;
        }
        collector.take(0, second, &sample, second == 1);
    }
    collector.finish(RunFacts {
        target: "ws://h/".into(),
        plan: PlanSummary { protocol: "websocket".into(), method: "text".into(), ..PlanSummary::default() },
        started_at: "2020-01-02T03:04:05.678Z".into(),
        duration: Duration::from_secs(2),
        ..RunFacts::default()
    })
}

#[test]
fn each_interval_has_its_pushed_messages_or_events() {
    for (are_events, name) in [(false, "pushed"), (true, "events")] {
        let table = csv::series(&run(are_events).result).expect("results can be written");
        let lines: Vec<_> = table.lines().map(|line| line.rsplit_once(',').map(|(_, last)| last)).collect();
        assert_eq!(lines, [Some(name), Some("5"), Some("2")], "{table}");
    }
}

#[test]
fn a_collector_gets_the_counts() {
    let request = otlp::metrics(&run(false), false);
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let data = |name: &str| {
        let metric = metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no {name}"));
        metric.data.as_ref().unwrap_or_else(|| panic!("{name} has no data"))
    };
    for (name, expected) in [
        ("torr.websocket.pushed", vec![7]),
        ("torr.websocket.pings", vec![2]),
        ("torr.websocket.compressed", vec![6]),
        ("torr.websocket.closed", vec![4, 4]),
    ] {
        let metric::Data::Sum(sum) = data(name) else { panic!("{name} is no sum") };
        let counts = sum.data_points.iter().map(|point| match point.value {
            Some(number_data_point::Value::AsInt(n)) => n,
            other => panic!("{name} is {other:?}"),
        });
        assert_eq!(counts.collect::<Vec<_>>(), expected, "{name}");
    }
    let metric::Data::Histogram(handshakes) = data("torr.websocket.handshake") else { panic!("no histogram") };
    assert_eq!(handshakes.data_points[0].count, 2);
}
