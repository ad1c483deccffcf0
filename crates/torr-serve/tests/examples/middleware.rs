//! `examples/middleware.rs`.

use crate::program::Example;
use torr_test_support::wait_until;

#[test]
fn each_layer_does_its_work() {
    let middleware = Example::start("middleware", &[]);
    let given = middleware.ask("GET /nap?ms=20", &[("X-Request-Id", "from-the-client")]);
    assert_eq!(given.status_and_text(), (200, "well rested\n"));
    assert_eq!(given.field("X-Request-Id"), Some("from-the-client"));
    let took = given.field("Server-Timing").and_then(|timing| timing.strip_prefix("handler;dur="));
    assert!(took.is_some_and(|ms| ms.parse::<f64>().is_ok_and(|ms| ms >= 20.0)), "{given:?}");

    let made = middleware.get("/nap?ms=0");
    let id = made.field("X-Request-Id").expect("it has an id").to_owned();
    assert_eq!((id.len(), id.matches('-').count()), (36, 4), "{id} is no UUID");

    assert_eq!(middleware.get("/secret").status_and_text(), (401, "say the word\n"));
    assert_eq!(middleware.ask("GET /secret", &[("X-Password", "sesame")]).status_and_text(), (200, "the treasure\n"));

    // The panic is caught by the layer, so that not even the connection ends.
    let mut client = middleware.client();
    assert_eq!(client.get("/panic").status, 500);
    assert_eq!(client.get("/nap?ms=0").status, 200);
    drop(client);

    let said = middleware.leaves();
    for id in ["from-the-client", &id] {
        let lines: Vec<_> = said.lines().filter(|line| line.contains(id)).collect();
        assert_eq!(lines.len(), 1, "of {id} in {said}");
        assert!(["GET", "/nap", "status=200"].iter().all(|part| lines[0].contains(part)), "{}", lines[0]);
    }
}

#[test]
fn a_nap_too_long_is_ended_and_keeps_others_out_until_then() {
    let middleware = Example::start("middleware", &[]);
    wait_until("two naps to overlap", || {
        let mut sleepers = [middleware.client(), middleware.client()];
        sleepers.iter_mut().for_each(|sleeper| sleeper.send("GET /nap?ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n"));
        let mut responses = sleepers.map(|mut sleeper| sleeper.response());
        responses.sort_by_key(|response| response.status);
        // One after the other, had the machine no time for the second until the first was over.
        if responses[0].status == 504 {
            return None;
        }
        assert_eq!((responses[0].status, responses[0].text()), (503, "somebody naps already\n"));
        assert_eq!(responses[1].status, 504);
        Some(())
    });
    assert_eq!(middleware.get("/nap?ms=0").status, 200);
    middleware.leaves();
}
