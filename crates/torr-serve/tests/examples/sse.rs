//! `examples/sse.rs`.

use crate::program::Example;
use std::io::{BufRead, Read};
use std::time::{Duration, Instant};

/// The next event's lines, without the empty one that ends it.
fn event(events: &mut impl BufRead) -> Vec<String> {
    let lines = events.lines().map(|line| line.expect("the stream goes on"));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn all_listeners_hear_the_news() {
    let sse = Example::start("sse", &[]);
    let say = |text: &str| sse.send("POST /say", &[], text);
    assert_eq!(say("nobody is here").told(), (200, "0 heard it\n"));
    // So many that each worker has some, in all likelihood.
    let mut listeners: Vec<_> = (0..8).map(|_| sse.open("/events")).collect();
    assert_eq!(listeners[0].0["content-type"], "text/event-stream");
    assert_eq!(say("tea is ready").told(), (200, "8 heard it\n"));
    assert_eq!(say("two\nlines").told(), (200, "8 heard it\n"));
    assert_eq!(say("a\rb").status, 400);
    for (_, events) in &mut listeners {
        assert_eq!(event(events), ["event: news", "data: tea is ready"]);
        assert_eq!(event(events), ["event: news", "data: two", "data: lines"]);
    }
    // Who is gone is not spoken to.
    listeners.truncate(3);
    crate::program::wait_until("the others to be missed", || (say("again").text() == "3 heard it\n").then_some(()));
    drop(listeners);
    sse.leaves();
}

#[test]
fn lines_come_as_they_are_made() {
    let sse = Example::start("sse", &[]);
    let start = Instant::now();
    let (fields, mut lines) = sse.open("/countdown/3");
    assert_eq!(
        (fields.get("content-length"), &fields["transfer-encoding"]),
        (None, &"chunked".parse().expect("a value"))
    );
    let mut first = [0; 2];
    lines.read_exact(&mut first).expect("a line comes");
    let waited = start.elapsed();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("the others come");
    assert_eq!((&first, &*rest), (b"3\n", "2\n1\n"));
    // Two more lines take a fifth of a second, at least.
    let whole = start.elapsed();
    assert!(whole - waited >= Duration::from_millis(100), "the first line came after {waited:?} of {whole:?}");
    sse.leaves();
}
