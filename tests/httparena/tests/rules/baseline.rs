//! The profiles baseline, limited-conn and pipelined.

use crate::application::Application;
use crate::curl::{curl, get};
use std::thread;
use std::time::Duration;
use torr_test_support::client::Client;

/// The time between two pieces of a request.
const PAUSE: Duration = Duration::from_millis(30);

/// Checks sums by GET and POST, of fixed and of random numbers, and requests in pieces.
pub fn check() {
    let application = Application::start();
    sums(&application);
    pieces(&application);
}

/// Checks what `api-4` and `api-16` share with this profile.
pub fn sums(application: &Application) {
    let url = application.http("/baseline11?a=13&b=42");
    let post = |content: &str, url: &str| curl(&["-X", "POST", "-H", "Content-Type: text/plain", "-d", content], url);
    assert_eq!(get(&url).text(), "55");
    assert_eq!(post("20", &url).text(), "75");
    let chunked = curl(&["-X", "POST", "-H", "Transfer-Encoding: chunked", "-d", "20"], &url);
    assert_eq!(chunked.text(), "75");
    for _ in 0..3 {
        let [a, b, content] = [(); 3].map(|()| fastrand::u32(1..1_000_000));
        let url = application.http(&format!("/baseline11?a={a}&b={b}"));
        assert_eq!(get(&url).text(), (a + b).to_string(), "{url}");
        assert_eq!(post(&content.to_string(), &url).text(), (a + b + content).to_string(), "{url} with {content}");
    }
    // The load generator sends no Content-Type and no field beyond Host.
    let mut client = Client::connect(application.address("HTTP/1.1"));
    client.send("POST /baseline11?a=13&b=42 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n20");
    assert_eq!(client.response().text(), "75");
}

/// Sends requests in pieces: split within the path, by field line, between header section and content, and byte by byte.
fn pieces(application: &Application) {
    let post = "POST /baseline11?a=13&b=42 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n";
    let bytes: [&[&str]; 4] = [
        &["GET /base", "line11?a=13&b=42 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
        &["GET /baseline11?a=13&b=42 HTTP/1.1\r\n", "Host: localhost\r\n", "X-More: x\r\n", "\r\n"],
        &[post, "20"],
        &[post, "2", "0"],
    ];
    for (pieces, sum) in bytes.into_iter().zip(["55", "55", "75", "75"]) {
        let mut client = Client::connect(application.address("HTTP/1.1"));
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                // The pause is the stimulus: the server shall receive the pieces one by one.
                thread::sleep(PAUSE);
            }
            client.send(piece);
        }
        assert_eq!(client.response().text(), sum, "{pieces:?}");
    }
}

/// Checks that many connections of ten requests each are served, which the client resets.
pub fn limited() {
    let application = Application::start();
    sums(&application);
    pieces(&application);
    for _ in 0..50 {
        let mut client = Client::connect(application.address("HTTP/1.1"));
        for _ in 0..10 {
            assert_eq!(client.get("/baseline11?a=13&b=42").text(), "55");
        }
        // Closed with a response unread, which resets the connection.
        client.send("GET /baseline11?a=1&b=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(client.responds());
    }
}

/// Checks `/pipeline`, also 16 deep.
pub fn pipelined() {
    let application = Application::start();
    assert_eq!(get(&application.http("/pipeline")).text(), "ok");
    let mut client = Client::connect(application.address("HTTP/1.1"));
    for _ in 0..3 {
        client.send("GET /pipeline HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(16));
        for _ in 0..16 {
            assert_eq!(client.response().text(), "ok");
        }
    }
}
