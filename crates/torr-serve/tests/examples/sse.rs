//! `examples/sse.rs`.

use crate::program::Example;
use std::io::{BufRead, Read};
use std::time::{Duration, Instant};
use torr_test_support::wait_until;

/// The next event's lines, without the empty one that ends it.
fn event(events: &mut impl BufRead) -> Vec<String> {
    let lines = events.lines().map(|line| line.expect("the stream goes on"));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn all_listeners_hear_the_news() {
    let sse = Example::start("sse", &[]);
    let say = |text: &str| sse.send("POST /say", &[], text);
    assert_eq!(say("nobody is here").status_and_text(), (200, "0 heard it\n"));
    // So many that each worker has some, in all likelihood.
    let mut listeners: Vec<_> = (0..8).map(|_| sse.open("/events")).collect();
    assert_eq!(listeners[0].0["content-type"], "text/event-stream");
    assert_eq!(say("tea is ready").status_and_text(), (200, "8 heard it\n"));
    assert_eq!(say("two\nlines").status_and_text(), (200, "8 heard it\n"));
    assert_eq!(say("a\rb").status, 400);
    for (_, events) in &mut listeners {
        assert_eq!(event(events), ["event: news", "data: tea is ready"]);
        assert_eq!(event(events), ["event: news", "data: two", "data: lines"]);
    }
    // Who is gone is not spoken to.
    listeners.truncate(3);
    wait_until("the others to be missed", || (say("again").text() == "3 heard it\n").then_some(()));
    drop(listeners);
    sse.leaves();
}

#[test]
fn lines_come_as_they_are_made() {
    let sse = Example::start("sse", &[]);
    let (fields, mut lines) = sse.open("/countdown/3");
    assert!(!fields.contains_key("content-length") && fields["transfer-encoding"] == "chunked", "{fields:?}");
    let mut whole = String::new();
    lines.read_to_string(&mut whole).expect("it ends");
    assert_eq!(whole, "3\n2\n1\n");

    // This one takes 20 s to its end. Who sees a line in half of that has not waited for it.
    let start = Instant::now();
    let (_, mut lines) = sse.open("/countdown/200");
    let mut first = [0; 4];
    lines.read_exact(&mut first).expect("a line comes");
    assert_eq!(&first, b"200\n");
    assert!(start.elapsed() < Duration::from_secs(10), "it came after {:?}", start.elapsed());
    drop(lines);
    sse.leaves();
}
