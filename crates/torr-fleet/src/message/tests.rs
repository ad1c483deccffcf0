//! Tests of messages as they travel.

use super::*;

#[test]
fn another_version_is_something_else_than_no_message() {
    let text = String::from_utf8(Message::Call.encode().to_vec()).unwrap();
    assert_eq!(text, r#"{"version":1,"message":"call"}"#);
    assert!(matches!(Message::decode(text.as_bytes()), Ok(Message::Call)));
    let later = r#"{"version":2,"message":{"what":{"nobody":"knows"}}}"#;
    assert_eq!(Message::decode(later.as_bytes()).unwrap_err(), MessageError::Version(2));
    for bad in ["", "{}", r#"{"version":1,"message":"sing"}"#, "[1]"] {
        assert!(matches!(Message::decode(bad.as_bytes()), Err(MessageError::Malformed(_))), "{bad}");
    }
}

#[test]
fn a_sample_survives_the_way() {
    use torr_gauge::error_times::ErrorClass;
    use torr_gauge::{Failure, FailureKind, FailureSide};
    let mut sample = Sample { sent: 1, received: 2, body: 3, opened: 4, unfinished: 6, ..Sample::default() };
    (1..500).for_each(|n| sample.answered.record(n * 12_345));
    sample.lag.record(77_000);
    sample.status.count(200);
    sample.status.count(503);
    sample.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, "gone"));
    sample.error_times.record(ErrorClass::Status(503), 9_000_000);
    sample.error_times.record(ErrorClass::Kind(FailureKind::Read), 7);
    let answered = sample.answered.clone();
    let text = SampleText::of(&sample);
    let bytes = Message::Interval(Box::new(Interval { number: 3, last: true, sample: text })).encode();
    let Ok(Message::Interval(interval)) = Message::decode(&bytes) else { panic!("{bytes:?}") };
    let read = interval.sample.sample().unwrap();
    assert!(read.answered == answered, "the histogram is another");
    let failed = (read.failures.of(FailureKind::Read), read.status_errors());
    assert_eq!((interval.number, interval.last, failed), (3, true, (1, 1)));
    let again = Interval { sample: SampleText::of(&read), ..*interval };
    assert_eq!(Message::Interval(Box::new(again)).encode(), bytes, "nothing is lost");
}

#[test]
fn a_plans_words_are_not_shown() {
    let plan = PlanMessage {
        run: FleetName::of("r"),
        load: LoadMessage { load: serde_json::json!({ "settings": [["user", "a:secret"]] }), ..LoadMessage::default() },
        part: 1.0,
        connections: 1,
        requests: None,
        phase: 0.0,
        users_before: 0,
        if_lost: IfLost::Stop,
    };
    assert!(!format!("{:?}", Message::Plan(Box::new(plan))).contains("secret"));
}
