//! Scripts of k6 in commands that vary the load themselves, and over several load threads.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::script::{OK, Script};

const SCRIPT: &str = "
import http from 'k6/http';
import exec from 'k6/execution';
export const options = { vus: 3, duration: '10h', thresholds: { http_reqs: ['count<1'] } };
export function setup() { http.get(__ENV.BASE + 'setup'); return { page: 'page' }; }
export default function (data) {
  http.get(__ENV.BASE + data.page);
  http.post(__ENV.BASE + 'order', 'x');
  if (__ENV.STOPS) exec.test.abort('enough');
}
export function teardown() { http.get(__ENV.BASE + 'teardown'); }
";

fn run(folder: &Path, args: &[&str]) -> Ended {
    std::fs::write(folder.join("shop.js"), SCRIPT).expect("a file can be written");
    let mut command = torr_command(args);
    command.current_dir(folder).env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    Running::start(command).wait()
}

/// A server that counts all requests by their paths.
struct Shop {
    server: Script,
    counts: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Shop {
    fn open() -> Self {
        let counts = Arc::new(Mutex::new(BTreeMap::new()));
        let all = Arc::clone(&counts);
        let server = Script::start(move |client| {
            while let Some(request) = client.request() {
                let line = String::from_utf8_lossy(&request);
                let path = line.split(' ').nth(1).expect("a request has a path").trim_start_matches('/').to_owned();
                *all.lock().expect("nobody panics with it").entry(path).or_default() += 1;
                client.send(OK);
            }
        });
        Self { server, counts }
    }

    fn base(&self) -> String {
        format!("BASE={}", self.server.url())
    }

    fn count(&self, path: &str) -> usize {
        self.counts.lock().expect("nobody panics with it").get(path).copied().unwrap_or(0)
    }
}

#[test]
fn iterations_are_what_doctor_and_limit_vary() {
    for (command, flags) in [("doctor", &["-c", "2"][..]), ("limit", &["--max-connections", "4"])] {
        let (shop, folder) = (Shop::open(), tempfile::tempdir().expect("there is room"));
        let base = shop.base();
        let words = [&[command, "shop.js", "--variable", &base, "--budget", "5s", "-q", "--json", "-"], flags].concat();
        let ended = run(folder.path(), &words);
        assert!(matches!(ended.code, Some(0 | 1)), "{command}: {ended:?}");
        let written: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        if command == "doctor" {
            let trail = written["trail"].as_array().expect("it has runs");
            let finished = trail.iter().filter_map(|trial| trial["run"]["sessions"]["finished"].as_u64());
            assert!(finished.sum::<u64>() > 0, "{written:#}");
        } else {
            assert!(written["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{written:#}");
        }
        assert_eq!([shop.count("setup"), shop.count("teardown")], [1, 1], "{command}");
        let (pages, orders) = (shop.count("page"), shop.count("order"));
        assert!(pages > 20 && pages.abs_diff(orders) <= pages / 2, "{pages} pages, {orders} orders");
        let line = "runs the function 'default' as a session, without the script's executors and thresholds";
        assert!(ended.stderr.contains(line), "{}", ended.stderr);
        assert!(!ended.stderr.contains("have been crossed"), "{}", ended.stderr);
    }
}

#[test]
fn commands_say_what_they_cannot_do_with_a_script() {
    let (shop, folder) = (Shop::open(), tempfile::tempdir().expect("there is room"));
    let base = shop.base();
    for (args, code, what) in [
        (&["doctor", "shop.js", "-H", "a: b"][..], 2, "--header is not supported"),
        (&["limit", "shop.js", "--http2"], 2, "--http2 is not supported"),
        (&["doctor", "shop.js", "--fleet=f"], 2, "k6 scripts are not supported here"),
        (&["shop.js", "-r", "5", "-n", "5"], 2, "use -d"),
        (
            &["doctor", "shop.js", "--variable", &base, "--variable", "STOPS=1"],
            1,
            "the script has stopped the test: enough",
        ),
        (&["limit", "shop.js", "--variable", "BASE=http://127.0.0.1:1/"], 1, "refused"),
    ] {
        let ended = run(folder.path(), args);
        assert_eq!(ended.code, Some(code), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(what), "{args:?}: {}", ended.stderr);
    }
    assert_eq!((shop.count("setup"), shop.count("teardown")), (1, 1), "those of the command that was stopped");
}

#[test]
fn a_public_server_is_not_loaded_without_its_owners_word() {
    let folder = tempfile::tempdir().expect("there is room");
    // A name that leads nowhere: the network for documentation (RFC 5737).
    let ended = run(folder.path(), &["doctor", "shop.js", "--variable", "BASE=http://192.0.2.1/"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("--i-own-this"), "{}", ended.stderr);
}

#[test]
fn a_rate_and_threads_are_those_of_iterations() {
    let (shop, folder) = (Shop::open(), tempfile::tempdir().expect("there is room"));
    let base = shop.base();
    let flags = ["shop.js", "-r", "20", "-d", "1s", "-c", "4", "-t", "2", "--json", "r.json", "--variable", &base];
    let ended = run(folder.path(), &flags);
    assert_eq!(ended.code, Some(1), "the threshold is crossed: {ended:?}");
    let text = std::fs::read_to_string(folder.path().join("r.json")).expect("the result was written");
    let result: Value = serde_json::from_str(&text).expect("the result is JSON");
    assert_eq!(result["plan"]["threads"], 2, "{result}");
    let metric = |name: &str| result["script"]["metrics"][name]["values"]["count"].as_f64().unwrap_or_default() as u64;
    assert_eq!(metric("iterations") + metric("dropped_iterations"), 20, "each is begun or dropped: {result}");
    assert_eq!(shop.count("page") as u64, metric("iterations"));
    assert_eq!([shop.count("setup"), shop.count("teardown")], [1, 1]);
}
