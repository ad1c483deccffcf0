//! `torr limit` finds known limits, and presses public services only with the flag.

use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use torr_test_support::measured::measured;
use torr_test_support::program::{Running, torr, torr_command};
use torr_test_support::quiet;
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::closed_port;
use torr_test_support::wait_until;
use torr_test_support::{alone, beside};

/// A service that works on one request at a time, in the order in which they come, and knows how long each took it.
struct OneAtATime {
    script: Script,
    busy_ns: Arc<AtomicU64>,
    done: Arc<AtomicU64>,
}

impl OneAtATime {
    fn start(each: Duration) -> Self {
        let (busy_ns, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (jobs, queue) = mpsc::channel::<mpsc::Sender<()>>();
        let (busy, count) = (Arc::clone(&busy_ns), Arc::clone(&done));
        // It ends with the last of those that give it work.
        thread::spawn(move || {
            for reply in queue {
                let begun = Instant::now();
                thread::sleep(each);
                // The client may have closed.
                let _ = reply.send(());
                busy.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let jobs = Mutex::new(jobs);
        let script = Script::start(move |client| {
            let jobs = jobs.lock().expect("nobody panics with it").clone();
            while client.request().is_some() {
                let (reply, answered) = mpsc::channel();
                jobs.send(reply).expect("the queue lives as long as somebody can give it work");
                answered.recv().expect("each job is answered");
                client.send(OK);
            }
        });
        Self { script, busy_ns, done }
    }

    /// Requests per second that it can do, as it was so far.
    fn capacity(&self) -> f64 {
        self.done.load(Ordering::Relaxed) as f64 * 1e9 / self.busy_ns.load(Ordering::Relaxed) as f64
    }
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_known_limit_is_found_and_reported() {
    let _alone = alone();
    let service = OneAtATime::start(Duration::from_millis(2));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let json = folder.path().join("limit.json").display().to_string();
    let url = service.script.url();
    // With even arrivals what falls behind shows at once.
    let bounds =
        ["--slo", "p99<250ms,errors<0.1%", "--budget", "14s", "--max-connections", "64", "--arrivals", "constant"];
    measured("a known limit", || {
        let ended = torr(&[&["limit", &url, "--json", &json, "-t", "1"], &bounds[..]].concat());
        let text = std::fs::read_to_string(&json).expect("the outcome was written");
        let outcome: Value = serde_json::from_str(&text).expect("it is JSON");
        let code = i32::from(outcome["answer"] == "never");
        assert_eq!((ended.code, &*ended.stderr), (Some(code), ""), "{}", ended.stdout);
        quiet!(!outcome["sustained"].is_null(), "{}", ended.stdout);
        is_whole(&outcome, &url);
        is_shown(&ended.stdout, &url);
        let share = number(&outcome["sustained"]["rate"]) / service.capacity();
        assert!(share <= 1.05, "{share} of {}:\n{}", service.capacity(), ended.stdout);
        quiet!(share >= 0.8, "{share:.2} of {:.0} requests/s:\n{}", service.capacity(), ended.stdout);
    });
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn is_whole(outcome: &Value, url: &str) {
    assert_eq!((&outcome["schema"], &outcome["target"]), (&"torr.limit/1".into(), &url.into()));
    // Steps that take longer on a disturbed machine may leave no time for a rate that fails.
    let failed = outcome["fails_at"].as_f64();
    assert!(failed.is_none_or(|at| at > number(&outcome["sustained"]["rate"])), "{outcome:#}");
    quiet!(failed.is_some() || outcome["disturbance"].is_object(), "{outcome:#}");
    quiet!(number(&outcome["spent_s"]) < 15.5, "{outcome:#}");
    let connections = &outcome["connections"];
    assert!(number(&connections["recommended"]) >= number(&connections["busy"]), "{outcome:#}");
    assert_eq!(outcome["ladder"][0]["connections"], 1);
    let steps = outcome["steps"].as_array().expect("it is a list");
    quiet!(steps.iter().filter(|step| step["load"]["rate"].is_number()).count() > 3, "{outcome:#}");
}

fn is_shown(report: &str, url: &str) {
    for word in ["the limit of", "requests/s", "unloaded", "connections, in a closed loop"] {
        assert!(report.contains(word), "no {word:?} in:\n{report}");
    }
    let verify = report.lines().find_map(|line| line.split_once("verify: torr ")).expect("there is a command").1;
    assert!(verify.starts_with(&format!("{url} -t 1 -r ")), "{verify}");
    assert!(verify.ends_with("--fail-if 'p99>=250ms,errors>=0.1%'"), "{verify}");
}

#[test]
fn early_failures_are_reported_in_one_line() {
    let _beside = beside();
    let service = Script::start(answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
    let ended = torr(&["limit", &service.url(), "--budget", "8s", "--json", "-"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let outcome: Value = serde_json::from_str(&ended.stdout).expect("standard output has the outcome alone");
    assert_eq!((&outcome["answer"], &outcome["sustained"]), (&"never".into(), &Value::Null));
    assert!(service.requests() <= 20, "{} requests were sent", service.requests());
    let ended = torr(&["limit", &service.url(), "--budget", "8s"]);
    let line = ended.stdout.lines().find(|line| line.contains("  limit ")).expect("there is an answer");
    assert!(line.contains("does not meet p99<50ms,errors<0.1% at any rate") && line.contains("503"), "{line}");
}

#[test]
fn public_services_are_not_pressed_without_the_flag() {
    let _beside = beside();
    let proxy = Script::start(answering(OK));
    let by = format!("http://{}", proxy.address);
    let port = proxy.address.port();
    let (tls, grpc) = (format!("https://service.test:{port}/"), format!("grpc://service.test:{port}/a.B/C"));
    let resolved = format!("service.test:{port}:127.0.0.1,203.0.113.1");
    let cases: [&[&str]; 6] = [
        &["http://192.0.2.1/"],
        &["http://[2001:db8::1]/"],
        &["http://service.test/", "--resolve", "service.test:80:127.0.0.1,203.0.113.1"],
        &["http://203.0.113.1/", "--proxy", &by],
        // What these request before the run waits for the flag too.
        &[&tls, "--alt-svc", "--resolve", &resolved],
        &[&grpc, "--reflection", "--resolve", &resolved],
    ];
    for args in cases {
        let ended = torr(&[&["limit"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("--i-own-this"), "{args:?}: {}", ended.stderr);
    }
    let cases: [(&[&str], &str); 2] = [
        (&["http://192.0.2.1/", "http://127.0.0.1:1/"], "192.0.2.1"),
        (&[&tls, "https://127.0.0.1:1/", "--alt-svc", "--resolve", &resolved], "203.0.113.1"),
    ];
    for (args, address) in cases {
        let compared = torr(&[&["compare"], args].concat());
        assert_eq!((compared.code, compared.stderr.lines().count()), (Some(2), 1), "{args:?}: {compared:?}");
        assert!(compared.stderr.contains(address) && compared.stderr.contains("--i-own-this"), "{compared:?}");
    }
    assert_eq!(proxy.connections(), 0, "something was sent");
    // Who vouches for it gets as far as to the proxy, which is none.
    let ended = torr(&["limit", "http://203.0.113.1/", "--proxy", &by, "--i-own-this"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(proxy.connections() > 0, "{ended:?}");
}

/// A session that a response leads away, through a proxy: what it would send shows there, and leaves no test's machine.
#[test]
fn sessions_lead_to_no_public_service_without_the_flag() {
    let _beside = beside();
    let sent_away = Arc::new(AtomicU64::new(0));
    let noted = Arc::clone(&sent_away);
    let proxy = Script::start(move |client| {
        while let Some(request) = client.request() {
            if request.starts_with(b"CONNECT 203.0.113.1:80 ") {
                noted.fetch_add(1, Ordering::SeqCst);
                return;
            }
            client.send(match request.starts_with(b"CONNECT ") {
                true => b"HTTP/1.1 200 Connection established\r\n\r\n",
                false => b"HTTP/1.1 302 Found\r\nLocation: http://203.0.113.1/\r\nContent-Length: 0\r\n\r\n",
            });
        }
    });
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    };
    let redirected = file("redirected.hurl", "GET http://127.0.0.1:1/\n[Options]\nlocation: true\nHTTP 200\n");
    let captured = file(
        "captured.hurl",
        "GET http://127.0.0.1:1/\nHTTP 302\n[Captures]\nnext: header \"Location\"\nGET {{next}}\nHTTP 200\n",
    );
    let script = file(
        "away.lua",
        "function session(user)\n  local away = http.get('http://127.0.0.1:1/'):header('Location')\n  http.get(away)\nend\n",
    );
    let by = format!("http://{}", proxy.address);
    let limit = ["limit", "--max-connections", "2"];
    let doctor = ["doctor", "-c", "2"];
    let away = |command: &[&str], target: &[&str]| {
        torr(&[command, target, &["-t", "1", "--budget", "5s", "-q", "--proxy", &by]].concat())
    };
    for (command, target) in [
        (&limit[..], &[&*redirected][..]),
        (&limit, &["http://127.0.0.1:1/", "--script", &script]),
        (&doctor, &[&redirected]),
        (&doctor, &[&captured]),
    ] {
        let before = proxy.requests();
        let ended = away(command, target);
        assert_eq!(sent_away.load(Ordering::SeqCst), 0, "{command:?} {target:?}: {ended:?}");
        assert!(proxy.requests() > before, "{command:?} {target:?}: {ended:?}");
        let notes = ended.stderr.matches("203.0.113.1 is a public address").count();
        assert!(notes == 1 && ended.stderr.contains("--i-own-this"), "{command:?} {target:?}: {ended:?}");
    }
    let ended = away(&[&limit[..], &["--i-own-this"]].concat(), &[&redirected]);
    assert!(sent_away.load(Ordering::SeqCst) > 0, "{ended:?}");
}

#[test]
fn an_interruption_reports_what_is_known() {
    let _beside = beside();
    let service = OneAtATime::start(Duration::from_millis(1));
    let running = Running::start(torr_command(&["limit", &service.script.url(), "--max-connections", "16"]));
    wait_until("some steps to be done", || (service.script.requests() > 3000).then_some(()));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stdout.contains("interrupted") && ended.stdout.contains("closed loop"), "{}", ended.stdout);
}

#[test]
fn mistakes_get_one_line() {
    let _beside = beside();
    let unvouched = format!("http://127.0.0.1:{}/", closed_port());
    let cases: [(&[&str], i32, &str); 6] = [
        (&[&unvouched], 3, "cannot connect"),
        (&[&unvouched, "--slo", "p99>50ms"], 2, "'p99<=50ms'"),
        (&[&unvouched, "--slo", "rps<50"], 2, "about throughput"),
        (&[&unvouched, "--budget", "1s"], 2, "must be at least 5s"),
        (&[&unvouched, "--max-rate", "0"], 2, "--max-rate"),
        (&[&unvouched, "--json", "/no/such/folder/x.json"], 2, "/no/such/folder"),
    ];
    for (args, code, word) in cases {
        let ended = torr(&[&["limit"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{args:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("torr: ") && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}
