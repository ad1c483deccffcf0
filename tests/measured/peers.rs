//! Against programs of others: nginx as the server, wrk and ab as the load.

use torr_test_support::measured::measured;
use torr_test_support::program::{run, torr_json};
use torr_test_support::quiet;
use torr_test_support::servers::{Nginx, Serve};
use torr_test_support::{alone, beside};

#[test]
fn nginx_is_pressed_and_its_processes_are_seen() {
    let _alone = alone();
    measured("nginx is pressed and its processes are seen", || {
        let nginx = Nginx::start("location / { return 200 \"<p>Hello, world!</p>\"; }");
        let result = torr_json(&["-c", "50", "-d", "2s", &nginx.url()]);
        assert_eq!(result["errors"]["status"], 0, "{result}");
        let (requests, body) = (result["requests"].as_u64().unwrap(), result["bytes"]["body"].as_u64().unwrap());
        assert!(requests > 100, "{result}");
        assert_eq!(body, 20 * requests, "{result}");
        assert_eq!(result["host"]["server"][0]["name"], "nginx", "{result}");
        quiet!(result["host"]["server_cores"].as_f64() > Some(0.05), "{result}");
        // Nginx has nothing to wait for here: the limit is CPU. A busy machine may leave it unknown.
        let verdict = &result["verdict"];
        let factors = ["server-cpu", "single-core", "generator", "cpu-quota", "connections", "unknown"];
        assert!(verdict["factor"].as_str().is_some_and(|factor| factors.contains(&factor)), "{verdict:#}");
        assert_eq!(
            verdict["confidence"],
            if verdict["factor"] == "unknown" { "unknown" } else { "likely" },
            "{verdict:#}"
        );
    });
}

#[test]
fn nginx_ends_a_connection_after_its_limit_of_requests() {
    let _beside = beside();
    let nginx = Nginx::start("keepalive_requests 10; location / { return 200 hello; }");
    let result = torr_json(&["-n", "1000", "-c", "5", &nginx.url()]);
    assert_eq!(result["requests"], 1000, "{result}");
    let number = |name: &str| result["connections"][name].as_u64().unwrap();
    // Up to five connections are not at their limit when the last request is answered.
    let (opened, closed) = (number("opened"), number("closed_by_server"));
    assert!((100..=105).contains(&opened) && (opened - 5..=opened).contains(&closed), "{result}");
}

#[test]
#[ignore = "measured for long: ./test full"]
fn wrk_presses_torr_serve_without_an_error() {
    let _beside = beside();
    let server = Serve::start(&["--workers", "2"]);
    let ended = run("wrk", &["-t", "2", "-c", "50", "-d", "2s", &server.url("/")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("requests in"), "{ended:?}");
    for trouble in ["Socket errors", "Non-2xx"] {
        assert!(!ended.stdout.contains(trouble), "{}", ended.stdout);
    }
}

#[test]
#[ignore = "measured for long: ./test full"]
fn ab_presses_torr_serve_with_and_without_keep_alive() {
    let _beside = beside();
    let server = Serve::start(&[]);
    for (args, kept) in [(&["-q", "-k", "-n", "5000", "-c", "50"][..], "5000"), (&["-q", "-n", "2000", "-c", "50"], "")]
    {
        let ended = run("ab", &[args, &[&server.url("/")]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let value = |label: &str| {
            let line = ended.stdout.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
            line.trim().to_owned()
        };
        assert_eq!(value("Complete requests:"), args[args.len() - 3], "{}", ended.stdout);
        assert_eq!(value("Failed requests:"), "0", "{}", ended.stdout);
        assert_eq!(value("Keep-Alive requests:"), kept, "{}", ended.stdout);
        assert_eq!(value("Server Software:"), "torr", "{}", ended.stdout);
    }
}
