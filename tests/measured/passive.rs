//! What a plain run says of its limit, which it can only on a machine that is not full of other work.

use torr_test_support::alone;
use torr_test_support::disturbance::{Disturbance, Outcome, until_right};
use torr_test_support::program::torr_json;
use torr_test_support::result::adds_up;
use torr_test_support::script::Script;

#[test]
fn a_server_without_keep_alive_is_named() {
    let _alone = alone();
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }
    });
    until_right("a server without keep-alive", || {
        let (result, disturbance) = Disturbance::during(|| torr_json(&["-n", "100", "-c", "4", &server.url()]));
        adds_up(&result);
        assert_eq!(result["connections"]["closed_by_server"], 100, "{result}");
        let verdict = &result["verdict"];
        match (verdict["factor"].as_str(), verdict["confidence"].as_str()) {
            (Some("keep-alive"), Some("likely")) => Outcome::Right(()),
            (Some("unknown"), _) => Outcome::Unknown(verdict.to_string()),
            _ => Outcome::Wrong(verdict.to_string(), disturbance),
        }
    });
}
