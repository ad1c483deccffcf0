//! Hostile values in every field of every message: a message is refused, or what is made of it is bounded.

use super::*;
use crate::limits::MOST_CONNECTIONS;
use crate::merge::IntervalMerge;
use proptest::prelude::*;
use serde_json::{Map, json};
use std::collections::BTreeSet;
use std::time::Duration;
use torr_gauge::bounds::MOST_IN_A_RUN;
use torr_gauge::collector::RunFacts;
use torr_gauge::result::validity::{Caution, Criterion};
use torr_press::RunEnd;

/// A sample in which each field has a value that a real one could have.
fn sample() -> Value {
    let datagrams = json!({"sent": 9, "sends": 8, "received": 7, "receives": 6, "packets": 9, "lost_packets": 1,
        "dropped": 1, "receive_buffer": 212_992});
    let sockets = json!({"readings": 1, "min_rtt": 4, "rtt": {"sum": 40, "count": 1}, "rtt_max": 40,
        "receiver_rtt": {"sum": 10, "count": 1},
        "grown": {"retransmits": 1, "segments": 9, "busy": 100, "window_limited": 1, "buffer_limited": 1}});
    json!({
        "answered": "100:2 2000:3", "unanswered": "9000:1", "first_apart": "50:1", "last_apart": "2000:1",
        "processing": "90:5", "waiting": "80:5", "connect": "60:2", "tls": "500:2", "lag": "3:5",
        "full_handshakes": 1, "resumed_handshakes": 1, "early_handshakes": 1, "failed_checks": [1, 0], "gaps": [1000],
        "status": [[200, 4], [503, 1]], "expected_statuses": 1,
        "failures": {"kinds": {"read": 2}, "causes": [[{"kind": "read", "side": "server", "what": "gone"}, 2]]},
        "error_times": [[{"Kind": "read"}, {"first": 5, "last": 9, "count": 2}], [{"Status": 503}, {"first": 1, "last": 1, "count": 1}]],
        "carried": {"answered": 1, "response_errors": 1, "failed": 1, "received": 10},
        "unfinished": 1, "redirects": 1, "sessions": {"finished": 1, "failed": 1},
        "websocket": {"handshakes": "400:2", "pushed": 1, "pings": 1, "compressed": 1, "closed": {"1001": 1}},
        "datagrams": datagrams, "sent": 300, "received": 900, "body": 100,
        "opened": 2, "closed_by_server": 1, "ended_idle": 1000,
        "idle_closes": {"requests": 1, "shortest_ms": 200, "longest_ms": 204},
        "sockets": sockets,
        "idle": 900_000_000, "open": 2,
    })
}

/// A message of each kind, all fields of which have a value.
fn messages() -> Vec<Value> {
    let digest = "ab".repeat(32);
    let time = json!({"secs": 1, "nanos": 5});
    let sessions = json!({"started": 3, "finished": 1, "failed": 1, "unfinished": 1, "durations": "100:1"});
    let facts = json!({
        "duration_ns": 2_000_000_000_u64, "started": 9, "given_up": false, "carried": 1, "peak": 2, "sources": 1,
        "timestamps": "kernel", "threads": [{"wall": time, "cpu": time, "queued": time, "idle": time}],
        "tls": {"version": "TLSv1.3", "cipher": "AES", "group": "X25519", "key": "RSA", "full": 1, "resumed": 1, "early_data": 1},
        "failed_response": {"at_s": 0.5, "status": 503, "status_line": "HTTP/1.1 503", "content": "no", "complete": true,
            "fields": [{"name": "a", "value": "b"}]},
        "warmup": sample(), "sessions": sessions, "entries": 1,
    });
    let finding = json!({"what": "steal", "ok": false, "value": 0.5, "limit": 0.1, "p": 0.001, "fact": {"name": "steal", "share": 0.5}});
    let queued = json!({"what": "queued", "ok": false, "value": 0.5, "limit": 0.1,
        "fact": {"name": "queued", "share": 0.5, "others": [{"name": "a", "cores": 0.5}]}});
    let own = json!({"busy_share": 0.5, "send_lag_p99_us": 90, "saturated": false, "verdict": "none: x",
        "findings": [finding, queued], "error": "e"});
    let load = json!({"load": {"schema": "torr.load/1", "settings": [["target", "http://a/"]]}, "files": {"a": digest}, "variables": {"a": 1}, "secrets": ["s"]});
    let counts = json!({"response_times": "100:4", "shortest": 100, "status": [[200, 3]], "responses_failed": 1,
        "request_failures": 1, "unfinished": 1, "retries": 1, "sessions_failed": 1,
        "asserts": [{"failed": 1, "examples": [{"expected": "a", "actual": "b"}]}], "causes": {"c": 1}});
    [
        json!({"hello": {"agent": "a", "torr": "1", "machine": "m", "cores": 2, "ceiling": 1000.0, "allow": ["loopback"], "run": "r"}}),
        json!({"time": {"ns": 5}}),
        json!({"plan": {"run": "r", "load": load, "part": 0.5, "connections": 5, "requests": 9, "phase": 0.5,
            "users_before": 3, "if_lost": "stop"}}),
        json!({"missing": {"files": [digest]}}),
        json!({"file": {"digest": digest, "part": 0, "last": true, "content": "AAAA"}}),
        json!({"ready": {"run": "r"}}),
        json!({"refused": {"refusal": "plan", "why": "because"}}),
        json!({"go": {"run": "r", "at_ns": 5}}),
        json!({"began": {"at_ns": 5}}),
        json!({"interval": {"number": 0, "last": true, "sample": sample()}}),
        json!({"entry": {"number": 0, "name": {"name": "n", "file": "f", "line": 1, "asserts": ["a"]}, "counts": counts,
            "origins": ["http://a"]}}),
        json!({"end": {"intervals": 1, "stopped": false, "failed": "why", "unreachable": false, "facts": facts, "own": own}}),
        json!({"resend": {"run": "r", "intervals": [0], "entries": [0]}}),
        json!({"stop": {"run": "r"}}),
        json!("call"),
        json!("clock"),
        json!("alive"),
    ]
    .into_iter()
    .map(|message| json!({"version": PROTOCOL, "message": message}))
    .collect()
}

/// Returns the paths of all values within a value, as pointers of JSON.
fn paths(value: &Value) -> Vec<String> {
    let below = |name: &str, inner: &Value| {
        let name = name.replace('~', "~0").replace('/', "~1");
        paths(inner).into_iter().map(move |path| format!("/{name}{path}")).collect::<Vec<_>>()
    };
    let mut all = vec![String::new()];
    match value {
        Value::Object(fields) => all.extend(fields.iter().flat_map(|(name, inner)| below(name, inner))),
        Value::Array(list) => all.extend(list.iter().enumerate().flat_map(|(at, inner)| below(&at.to_string(), inner))),
        _ => {}
    }
    all
}

fn decode(message: &Value) -> Result<Message, MessageError> {
    Message::decode(message.to_string().as_bytes())
}

/// Uses a message as a coordinator does, and shows all that a result has of it.
fn used(message: Message) {
    let mut merge = IntervalMerge::new(1);
    let mut duration = Duration::from_secs(1);
    match message {
        Message::Interval(interval) => {
            let read = interval.sample.sample().expect("it was read before");
            (0..3).for_each(|number| drop(merge.take(0, number, SampleText::of(&read), number == 2)));
        }
        Message::End(end) => {
            end.facts.warmup.iter().for_each(|warmup| merge.warmup(warmup));
            let _sum: Duration = end.facts.threads.iter().map(|cost| cost.wall + cost.cpu + cost.idle).sum();
            duration = Duration::from_nanos(end.facts.duration_ns);
        }
        Message::Entry(entry) => {
            let mut sum = entry.counts.clone();
            (0..1000).for_each(|_| sum.merge(&entry.counts));
            assert!(sum.begun() >= sum.requests() && sum.asserts_failed() < u64::MAX && sum.summary() == sum.summary());
        }
        Message::Hello(hello) => {
            let shares = crate::shares::shares(&[hello.ceiling, 1e9, 1e-3], 3 * MOST_CONNECTIONS, Some(1 << 50));
            assert!(shares.is_ok_and(|shares| shares.iter().all(|share| share.part.is_normal())));
        }
        _ => {}
    }
    merge.end(0);
    let facts = RunFacts { duration, ..RunFacts::default() };
    let result = merge.finish(RunEnd { facts, given_up: true }).result;
    let again = serde_json::to_value(&result).expect("a result is JSON");
    assert!(again["rps"].is_number() && result.completed() < u64::MAX && result.received_per_s().is_finite());
}

/// Returns the texts in a value that a terminal would act on.
fn controls(value: &Value) -> Vec<String> {
    let values = paths(value).into_iter().filter_map(|path| Some((value.pointer(&path)?.as_str()?, path)));
    values.filter(|(text, _)| text.contains(char::is_control)).map(|(_, path)| path).collect()
}

fn replaced(message: &Value, path: &str, by: Value) -> Value {
    let mut hostile = message.clone();
    *hostile.pointer_mut(path).expect("it is one of its paths") = by;
    hostile
}

#[test]
fn messages_as_they_are_sent_are_taken() {
    for message in messages() {
        used(decode(&message).unwrap_or_else(|error| panic!("{error}: {message:#}")));
    }
}

#[test]
fn the_largest_numbers_are_refused_in_every_field() {
    let mut fields = BTreeSet::new();
    for message in messages() {
        for path in paths(&message).into_iter().filter(|path| message.pointer(path).is_some_and(Value::is_number)) {
            // The variables of a load are values of the user, with which nothing is counted.
            if path.contains("/variables/") {
                continue;
            }
            // The values of criteria are changes, and may be negative.
            let negative = if path.contains("/findings/") { json!(-1e19) } else { json!(-1) };
            for hostile in [json!(u64::MAX), json!(u64::MAX - 1), negative, json!(1e308), json!(-1e308)] {
                let hostile = replaced(&message, &path, hostile);
                assert!(decode(&hostile).is_err(), "{path}: {hostile}");
            }
            fields.insert(path);
        }
    }
    assert!(fields.len() > 100, "{fields:?}");
}

#[test]
fn histograms_of_more_than_there_can_be_are_refused() {
    for message in messages() {
        let is_histogram = |text: &str| text.ends_with(|c: char| c.is_ascii_digit()) && text.contains(':');
        for path in paths(&message) {
            if message.pointer(&path).and_then(Value::as_str).is_some_and(is_histogram) {
                for hostile in [format!("100:{}", u64::MAX), format!("100:{0} 200:{0}", u64::MAX), "1:-1".into()] {
                    assert!(decode(&replaced(&message, &path, hostile.into())).is_err(), "{path}");
                }
            }
        }
    }
}

#[test]
fn what_is_left_of_a_rate_beyond_reach_is_taken_once() {
    let of = |left: u64| {
        let left = json!({"unanswered": format!("9000:{left}"), "unfinished": left});
        decode(&json!({"version": PROTOCOL, "message": {"interval": {"number": 2, "last": true, "sample": left}}}))
    };
    // `-r 1e9 -d 3s`, and the longest run at that rate.
    for left in [3_000_000_000, MOST_IN_A_RUN] {
        used(of(left).unwrap_or_else(|error| panic!("{left}: {error}")));
    }
    assert!(of(MOST_IN_A_RUN + 1).is_err());
    let Ok(Message::Interval(interval)) = of(MOST_IN_A_RUN) else { panic!("it was taken before") };
    let mut merge = IntervalMerge::new(1);
    assert!(merge.take(0, 0, interval.sample.clone(), false).is_ok());
    assert!(merge.take(0, 1, interval.sample, false).is_err(), "no run has that many twice");
}

#[test]
fn no_text_acts_on_a_terminal() {
    let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}\r\n\u{9b}31m";
    for message in messages() {
        for path in paths(&message).into_iter().filter(|path| message.pointer(path).is_some_and(Value::is_string)) {
            // The settings of a load are the user's, and no agent shows them. What a server sent stays as it is, for outputs that are no
            // terminal; it is escaped where it is shown.
            let is_kept = ["/plan/load/", "/file/content", "/failed_response/", "/examples/"]
                .iter()
                .any(|part| path.contains(part));
            match decode(&replaced(&message, &path, hostile.into())) {
                Err(error) => assert!(!error.to_string().contains(char::is_control), "{path}: {error}"),
                Ok(taken) if !is_kept => {
                    let shown = serde_json::from_slice(&taken.encode()).expect("it is JSON");
                    assert_eq!(controls(&shown), [""; 0], "{path}");
                }
                Ok(_) => {}
            }
        }
    }
}

#[test]
fn lists_and_maps_without_end_are_refused_or_cut() {
    for message in messages() {
        for path in paths(&message) {
            let many = 100_001;
            let hostile = match message.pointer(&path) {
                Some(Value::Array(list)) => Value::Array(vec![list[0].clone(); many]),
                Some(Value::Object(fields)) if path.ends_with("/files") || path.ends_with("/variables") => {
                    let value = fields.values().next().expect("it has one");
                    Value::Object((0..many).map(|n| (n.to_string(), value.clone())).collect::<Map<_, _>>())
                }
                _ => continue,
            };
            // Pairs are no list: a key that is repeated has its last value. Examples are cut.
            let is_merged = ["/status", "/causes", "/error_times", "/examples"].iter().any(|end| path.ends_with(end));
            let decoded = decode(&replaced(&message, &path, hostile));
            match decoded {
                Ok(taken) if is_merged || path.contains("/status/") => {
                    assert!(taken.encode().len() < 100_000, "{path}");
                }
                other => assert!(other.is_err(), "{path}"),
            }
        }
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    let find = |kind: &str| messages().into_iter().find(|message| message["message"].get(kind).is_some());
    let interval = find("interval").expect("there is one");
    for (field, value) in [
        ("last_apart", json!("2000:4")),
        ("last_apart", json!("7:1")),
        ("failures/kinds", json!({})),
        ("failures/kinds", json!({"read": 1})),
        ("failures/kinds", json!({"connect": 2})),
        ("error_times/0/1/first", json!(10)),
    ] {
        let hostile = replaced(&interval, &format!("/message/interval/sample/{field}"), value);
        assert!(decode(&hostile).is_err(), "{field}");
    }
    for (kind, field, value) in [
        ("plan", "part", json!(0.0)),
        ("plan", "connections", json!(0)),
        ("plan", "connections", json!(MOST_CONNECTIONS + 1)),
        ("plan", "requests", json!(0)),
        ("plan", "run", json!("*")),
        ("plan", "run", json!(">")),
        ("go", "run", json!("a.b")),
        ("hello", "ceiling", json!(0.0)),
        ("hello", "agent", json!("")),
        ("hello", "agent", json!("a.b")),
        ("file", "digest", json!("0123")),
        ("file", "content", json!("A".repeat(1 << 20))),
    ] {
        let message = find(kind).expect("there is one");
        assert!(decode(&replaced(&message, &format!("/message/{kind}/{field}"), value)).is_err(), "{kind}: {field}");
    }
}

#[test]
fn a_finding_is_what_its_fact_says() {
    let end = messages().into_iter().find(|message| message["message"].get("end").is_some()).expect("there is one");
    let of = |left_out: Vec<&str>| {
        let fact = json!({"name": "samples", "count": 5, "left_out": left_out});
        let finding = json!({"what": "send-lag", "ok": false, "value": 5.0, "limit": 500.0, "fact": fact});
        decode(&replaced(&end, "/message/end/own/findings", json!([finding])))
    };
    let Ok(Message::End(taken)) = of(vec!["p99", "\u{1b}[2J"]) else { panic!("its texts are made printable") };
    let [finding] = &taken.own.findings[..] else { panic!("{:?}", taken.own.findings) };
    assert_eq!(finding.what, Criterion::Samples, "an agent that is not late does not count as late");
    let left_out = vec!["p99".to_owned(), "\\u{1b}[2J".to_owned()];
    assert_eq!(finding.fact, Some(Caution::Samples { count: 5, left_out, of_events: false }));
    assert!(of(vec!["p99"; 100]).is_err());
}

/// A value that a sender could put anywhere.
fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(i64::MAX as u64), any::<u64>(), 0_u64..1 << 40];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        "[0-9]{1,20}:[0-9]{1,20}( [0-9]{1,20}:[0-9]{1,20})?".prop_map(Value::from),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[a-z_]{1,8}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    // A sample has nine histograms of 23,000 counts.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_value_in_any_field_is_refused_or_bounded(
        message in proptest::sample::select(messages()),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any_value()), 1..4),
    ) {
        let mut hostile = message;
        for (at, value) in changes {
            let paths = paths(&hostile);
            let path = at.get(&paths);
            *hostile.pointer_mut(path).expect("it is one of its paths") = value;
        }
        if let Ok(message) = decode(&hostile) {
            used(message);
        }
    }
}
