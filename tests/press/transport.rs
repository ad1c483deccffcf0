//! Other ways to a service: Unix sockets, proxies, addresses of one's own choice.

use std::time::Duration;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::proxy::proxy;
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::Nginx;

#[test]
fn a_unix_socket_is_as_good_as_a_port() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _nginx = Nginx::start(&format!("listen unix:{}; location / {{ return 200 $host; }}", path.display()));
    let path = path.to_str().unwrap();
    let result = torr_json(&["-n", "1000", "-c", "10", "--unix-socket", path, "http://name.test/"]);
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/bytes/body")), (1000, 9000), "{result}");
    assert_eq!(result["host"]["server"][0]["name"], "nginx", "{result}");
    assert_eq!(result["host"]["server"][0]["name"], "nginx", "{result}");
    let result = torr_json(&["-n", "200", "-c", "5", "--no-keepalive", "--unix-socket", path, "http://name.test/"]);
    adds_up(&result);
    assert_eq!(count(&result, "/connections/opened"), 200, "{result}");
    let ended = torr(&["--unix-socket", "/no/such/socket", "http://name.test/"]);
    assert_eq!((ended.code, ended.stderr.contains("/no/such/socket")), (Some(3), true), "{ended:?}");
}

#[test]
fn a_name_goes_to_the_resolved_address() {
    let server = Script::start(answering(OK));
    let port = server.address.port();
    let resolve = format!("name.test:{port}:127.0.0.1");
    let url = format!("http://name.test:{port}/");
    let result = torr_json(&["-n", "20", "-c", "2", "--resolve", &resolve, &url]);
    assert_eq!((count(&result, "/requests"), server.requests()), (20, 20), "{result}");
    let first = String::from_utf8(server.seen.first.lock().unwrap().clone()).unwrap();
    assert!(first.contains(&format!("\r\nHost: name.test:{port}\r\n")), "{first}");
    let elsewhere = torr(&["-n", "1", "--resolve", "other.test:80:127.0.0.1", &url]);
    assert_eq!(elsewhere.code, Some(3), "{elsewhere:?}");
}

#[test]
fn a_proxy_is_sent_connect() {
    let server = Script::start(answering(OK));
    let proxy = proxy(b"HTTP/1.1 200 Connection established\r\n\r\n");
    let through = format!("http://{}", proxy.address);
    let result = torr_json(&["-n", "100", "-c", "4", "-x", &through, "--proxy-user", "me:secret", &server.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), server.requests()), (100, 100), "{result}");
    assert_eq!((proxy.connections(), server.connections()), (4, 4));
    let first = String::from_utf8(proxy.seen.first.lock().unwrap().clone()).unwrap();
    assert!(first.starts_with(&format!("CONNECT {} HTTP/1.1\r\n", server.address)), "{first}");
    assert!(first.contains("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"), "{first}");
    let request = String::from_utf8(server.seen.first.lock().unwrap().clone()).unwrap();
    assert!(request.starts_with("GET / HTTP/1.1\r\n") && !request.contains("Proxy-"), "{request}");
}

#[test]
fn the_credentials_of_a_proxy_may_stand_in_its_url() {
    let server = Script::start(answering(OK));
    let proxy = proxy(b"HTTP/1.1 200 Connection established\r\n\r\n");
    let url = server.url();
    for (user, flags, credentials) in [
        ("http://me:secret@", &[][..], "bWU6c2VjcmV0"),
        ("me:secret@", &[], "bWU6c2VjcmV0"),
        ("http://me%40home:a%3Ab@", &[], "bWVAaG9tZTphOmI="),
        ("http://me@", &[], "bWU6"),
        ("http://other:word@", &["--proxy-user", "me:secret"], "bWU6c2VjcmV0"),
    ] {
        let through = format!("{user}{}", proxy.address);
        let ended = torr(&[&["-n", "2", "-c", "1", "-x", &through], flags, &[&url]].concat());
        assert_eq!(ended.code, Some(0), "{through}: {ended:?}");
        let latest = proxy.texts().pop().unwrap();
        assert!(latest.contains(&format!("Proxy-Authorization: Basic {credentials}\r\n")), "{through}: {latest}");
        assert!(!(ended.stdout + &ended.stderr).contains("secret"), "{through}");
    }
    let request = String::from_utf8(server.seen.first.lock().unwrap().clone()).unwrap();
    assert!(!request.contains("uthorization"), "{request}");
}

#[test]
fn the_way_of_a_later_connection_is_in_the_latency_and_that_of_the_first_is_not() {
    // A proxy that takes longer to connect further than a busy machine for a request, before a server that responds at once.
    const WAY: Duration = Duration::from_secs(2);
    let server = Script::start(answering(OK));
    let proxy = Script::start(|client| {
        let Some(head) = client.request() else { return };
        let head = String::from_utf8_lossy(&head).into_owned();
        let to = head.split(' ').nth(1).expect("it is a CONNECT").to_owned();
        std::thread::sleep(WAY);
        client.send(b"HTTP/1.1 200 OK\r\n\r\n");
        client.relay(&to);
    });
    let through = format!("http://{}", proxy.address);
    // In each row: requests in flight and of a connection, and how many of the 12 are the first on a later connection.
    let later_ones = |deep: &str, each: &str, late: u64| {
        let args = ["-n", "12", "-c", "1", "-t", "1", "--pipeline", deep, "--requests-per-connection", each];
        let result = torr_json(&[&args[..], &["-x", &through, &server.url()]].concat());
        adds_up(&result);
        let histogram = result["latency_histogram"].as_str().expect("there were responses").split(' ');
        let number = |text: &str| text.parse::<u64>().expect("it is a number");
        let counts = histogram.filter_map(|count| count.split_once(':')).map(|(us, count)| (number(us), number(count)));
        let slow: u64 = counts.filter(|(us, _)| u128::from(*us) >= WAY.as_micros()).map(|(_, count)| count).sum();
        assert_eq!(slow, late, "{deep} {each}: {result}");
    };
    std::thread::scope(|scope| {
        for (deep, each, late) in [("1", "3", 3), ("2", "4", 4), ("1", "100", 0)] {
            scope.spawn(move || later_ones(deep, each, late));
        }
    });
}

#[test]
fn a_proxy_carries_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = torr_test_support::certificates::self_signed(folder.path());
    let nginx = Nginx::start_tls(&certificate, &key, "location / { return 200 'hello'; }");
    let proxy = proxy(b"HTTP/1.1 200 OK\r\n\r\n");
    let through = proxy.address.to_string();
    let result = torr_json(&["-n", "100", "-c", "4", "--proxy", &through, "--insecure", &nginx.https()]);
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/tls/full") > 0), (100, true), "{result}");
}

#[test]
fn a_proxy_that_says_no_is_named() {
    let proxy = proxy(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    let through = format!("http://{}", proxy.address);
    let ended = torr(&["-n", "10", "-x", &through, "http://127.0.0.1:1/"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("403") && ended.stderr.contains("proxy"), "{}", ended.stderr);
}

#[test]
fn a_network_gives_all_of_its_addresses_that_are_ours() {
    let server = Script::start(answering(OK));
    let result = torr_json(&["-n", "60", "-c", "12", "-t", "1", "--bind", "127.9.0.0/29,127.0.0.1", &server.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/connections/sources")), (60, 7), "{result}");
    for (bind, word) in
        [("203.0.113.0/24", "not an address of this machine"), ("10.0.0.0/99", "--bind needs an address or a network")]
    {
        let ended = torr(&["--bind", bind, "http://127.0.0.1:1"]);
        assert_eq!((ended.code, ended.stderr.contains(word)), (Some(2), true), "{ended:?}");
    }
}

#[test]
fn mistakes_about_the_way_are_one_line() {
    for (args, word) in [
        (&["--proxy", "https://127.0.0.1:1"][..], "--proxy"),
        (&["--proxy", "127.0.0.1"], "http://HOST:PORT"),
        (&["--proxy", "http://me:secret@127.0.0.1"], "http://HOST:PORT"),
        (&["--proxy-user", "a:b"], "--proxy"),
        (&["--resolve", "name"], "example.com:443"),
        (&["--unix-socket", "/x", "--bind", "127.0.0.1"], "--bind"),
    ] {
        let ended = torr(&[args, &["http://127.0.0.1:1"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}
