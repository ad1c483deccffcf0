//! `Date` tells when a response was made.

use crate::support::Running;
use std::time::{Duration, SystemTime};
use torr_serve::{App, Response};
use torr_test_support::client::{Client, ClientResponse, get};

/// Checks that a response was made between some time and now.
fn is_made_since(response: &ClientResponse, since: SystemTime) {
    let text = response.field("Date").expect("every answer has one");
    let date = httpdate::parse_http_date(text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    assert_eq!(httpdate::fmt_http_date(date), text, "the form of RFC 9110, section 5.6.7");
    // It counts whole seconds, by a clock that may be a few milliseconds late.
    let (since, now) = (since - Duration::from_millis(1_050), SystemTime::now());
    assert!(date > since && date <= now, "{text} is not between {since:?} and {now:?}");
}

fn after(wait: Duration) -> SystemTime {
    SystemTime::now() + wait
}

#[test]
fn a_response_has_the_time_of_its_making() {
    const WAIT: Duration = Duration::from_millis(1_500);
    let app = App::new().get("/", |_| Response::text("now")).get_async("/later", |_| async {
        tokio::time::sleep(WAIT).await;
        Response::text("later")
    });
    let server = Running::start_with(app, |settings| settings.head_timeout = WAIT);
    let mut client = server.client();
    for path in ["/", "/nowhere", "/"] {
        let now = SystemTime::now();
        is_made_since(&client.get(path), now);
    }
    // Nothing else goes on while the server waits, so that only the response itself can bring its clock up to date.
    let then = after(WAIT);
    is_made_since(&client.get("/later"), then);

    let then = after(WAIT);
    let mut client = Client::connect(server.address);
    client.send(&get("/")[..10]);
    let response = client.response();
    assert_eq!(response.status, 408, "{response:?}");
    is_made_since(&response, then);
}
