//! `examples/graceful.rs`.

use crate::program::Example;

#[test]
fn what_was_promised_is_done_before_the_end() {
    let graceful = Example::start("graceful", &[]);
    for letter in 1..=5 {
        let response = graceful.send("POST /letters", &[], format!("letter {letter}"));
        assert_eq!(response.status_and_text(), (202, "it is on its way\n"));
    }
    // A request that is in flight when a graceful stop begins still has its response.
    let mut late = graceful.client();
    late.send("POST /letters HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(late.interim().status, 100);
    graceful.terminate();
    late.send("letter 6");
    assert_eq!(late.response().status, 202);
    late.ends();
    drop(late);
    let said = graceful.wait();
    let lines: Vec<_> = said.lines().collect();
    let delivered: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("delivered: letter ")).collect();
    assert_eq!(delivered, ["1", "2", "3", "4", "5", "6"]);
    assert!(lines.contains(&"no more letters are accepted"), "{said}");
    assert_eq!(lines.last(), Some(&"all letters are delivered"), "{said}");
}
