//! `torr once` with a URL.

use torr_test_support::program::torr;
use torr_test_support::script::Script;
use torr_test_support::servers::closed_port;

#[test]
fn one_request_of_a_url_is_shown_with_its_response() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let is_there = !request.starts_with(b"GET /gone");
            let status = if is_there { "200 OK" } else { "410 Gone" };
            client.send(format!("HTTP/1.1 {status}\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello").as_bytes());
        }
    });
    let (url, gone) = (format!("{}p?a=1", server.url()), format!("{}gone", server.url()));
    let ended = torr(&["once", &url, "-H", "X-C: d", "-u", "me:secret", "--data", "a=b", "--range", "0-99"]);
    assert_eq!((ended.code, server.requests()), (Some(0), 1), "{ended:?}");
    for line in
        ["> POST /p?a=1 HTTP/1.1", "> X-C: d", "> Range: bytes=0-99", "> a=b", "< HTTP/1.1 200", "< X-A: b", "< hello"]
    {
        assert!(ended.stdout.lines().any(|shown| shown == line), "{line}: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains("bWU6c2VjcmV0") && ended.stdout.contains("> Authorization: "), "{}", ended.stdout);
    let ended = torr(&["once", &gone]);
    assert_eq!((ended.code, server.requests()), (Some(1), 2), "{ended:?}");
    assert!(ended.stdout.contains("< HTTP/1.1 410"), "{ended:?}");
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let plan = folder.path().join("p.toml");
    std::fs::write(&plan, format!("target = \"{url}\"\nrequests = 50\n")).expect("a file can be written");
    let ended = torr(&["once", plan.to_str().expect("it is text")]);
    assert_eq!((ended.code, server.requests()), (Some(0), 3), "{ended:?}");
    let ended = torr(&["once", &format!("http://127.0.0.1:{}/", closed_port())]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(3), 1), "{ended:?}");
}
