//! `torr limit` with streams of events: how many at a time keep the promises about first events and gaps.

use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::count;
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
/// The time between two events of a stream, by design, and where there are too many streams.
const GAP: Duration = Duration::from_millis(60);
const SLOW: Duration = Duration::from_millis(600);

/// Sends events without end, at the pace of the design as long as no more than `most` streams are open.
fn endless(client: &mut Client, open: &AtomicUsize, most: usize) {
    if client.request().is_none() {
        return;
    }
    open.fetch_add(1, Ordering::SeqCst);
    let mut sent = client.stream.write_all(STREAM);
    while sent.is_ok() {
        sent = client.stream.write_all(b"data: x\n\n");
        let gap = if open.load(Ordering::SeqCst) > most { SLOW } else { GAP };
        client.stream.set_read_timeout(Some(gap)).expect("a socket takes options");
        // The client sends nothing more: what ends the wait early is that it goes.
        match client.stream.read(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => break,
        }
    }
    open.fetch_sub(1, Ordering::SeqCst);
}

fn limit(url: &str, args: &[&str]) -> Value {
    torr_json(&[&["limit", url, "-q"], args].concat())
}

#[test]
fn the_number_of_streams_from_which_gaps_stretch_is_found() {
    let open = AtomicUsize::new(0);
    let service = Script::start(move |client| endless(client, &open, 6));
    let slo = "first_event_p99<5s,gap_p99<400ms,errors<=0";
    let result = limit(&service.url(), &["--sse", "--slo", slo, "--budget", "40s", "--max-connections", "24"]);
    assert_eq!((&result["answer"], &result["unit"]), (&"limit".into(), &"streams".into()), "{result:#}");
    assert_eq!(count(&result, "/sustained/streams/at_a_time"), 6, "{result:#}");
    assert_eq!(result["fails_at"], 7.0, "{result:#}");
    // No request of it ever ended: neither their length nor their number says anything.
    assert_eq!((&result["connections"], &result["knee"]), (&Value::Null, &Value::Null));
    let events = result["sustained"]["streams"]["events_per_s"].as_f64().expect("it is a number");
    assert!(events > 10.0, "{events}");
    let verdicts = result["steps"].as_array().expect("it has steps").iter().filter(|step| step["kept"] == true);
    for step in verdicts {
        assert!(step["verdict"]["factor"] != "connections", "{step:#}");
    }
}

#[test]
fn streams_of_a_service_that_keeps_its_pace_are_limited_by_what_is_permitted() {
    let serve = Serve::start(&["--workers", "1"]);
    let slo = ["--sse", "--slo", "first_event_p99<5s,gap_p99<2s,errors<=0", "--budget", "20s"];
    let most = ["--max-connections", "12"];
    let endless = limit(&serve.url("/sse/1000000/50"), &[&slo[..], &most].concat());
    assert_eq!(endless["answer"], "at-least-connections", "{endless:#}");
    assert_eq!(count(&endless, "/sustained/streams/at_a_time"), 12, "{endless:#}");
    // Streams that end, on connections that have several.
    let several = ["--http2-prior-knowledge", "--streams", "5", "--max-connections", "3"];
    let short = limit(&serve.url("/sse/4/50"), &[&slo[..], &several].concat());
    assert_eq!(count(&short, "/sustained/streams/at_a_time"), 15, "{short:#}");
    // By default the gaps are to be about those of one stream.
    let usual = limit(&serve.url("/sse/1000000/500"), &["--sse", "--budget", "20s", "--max-connections", "3"]);
    let objectives: Vec<_> = usual["slo"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let [first, gaps, errors] = objectives[..] else { panic!("{usual:#}") };
    assert_eq!((first, errors), ("first_event_p99<1s", "errors<0.1%"));
    let gap_ms = gaps.strip_prefix("gap_p99<").and_then(|gap| gap.strip_suffix("ms")?.parse::<u64>().ok());
    assert!(gap_ms.is_some_and(|gap_ms| (1000..3000).contains(&gap_ms)), "{gaps}");
    let text = torr(&[&["limit", &serve.url("/sse/1000000/50"), "-q"], &slo[..], &most].concat());
    for words in ["at least 12 streams at a time", " events/s, gaps p50 ", "verify: torr ", "--sse", "-c 12"] {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
}

#[test]
fn the_length_of_streams_is_no_promise() {
    let refused = torr(&["limit", "http://127.0.0.1:1/", "--sse", "--slo", "p99<50ms"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("'p99<50ms' is about complete streams"), "{}", refused.stderr);
    let responses = torr(&["limit", "http://127.0.0.1:1/", "--slo", "gap_p99<50ms"]);
    assert!(responses.stderr.contains("'gap_p99<50ms' needs --sse"), "{}", responses.stderr);
}
