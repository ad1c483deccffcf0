//! Scripts of k6 by the agents of a fleet.

use crate::fleet::result;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Ended, Running};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script, answering};

const SCRIPT: &str = "
import http from 'k6/http';
import { page } from './lib/pages.ts';
const rows = JSON.parse(open('rows.json'));
export const options = { vus: 1, iterations: 1 };
export function setup() { http.get(__ENV.BASE + 'setup'); return rows[0]; }
export default function (row) { http.get(__ENV.BASE + page(row) + '?user=' + __VU); http.post(__ENV.BASE + 'order', 'x'); }
export function teardown(row) { http.get(__ENV.BASE + 'teardown/' + row); }
";

fn write(folder: &Path) -> String {
    fs::create_dir(folder.join("lib")).expect("there is room");
    for (name, text) in [
        ("shop.js", SCRIPT),
        ("lib/pages.ts", "export const page = (row: string): string => 'page/' + row;"),
        ("rows.json", "[\"first\"]"),
    ] {
        fs::write(folder.join(name), text).expect("there is room");
    }
    folder.join("shop.js").display().to_string()
}

fn run(nats: &NatsServer, arguments: &[&str]) -> Ended {
    Running::start(nats.run_of_fleet(arguments)).wait()
}

#[test]
fn a_script_travels_with_its_files_and_is_set_up_once() {
    let (nats, server) = (NatsServer::start(), Script::start(answering(OK)));
    let _agents = [nats.agent("one", &["--scripts"]), nats.agent("two", &["--scripts"])];
    let folder = tempfile::tempdir().expect("there is room");
    let (path, base) = (write(folder.path()), format!("BASE={}", server.url()));
    let load = ["-c", "4", "-n", "40", "-d", "20s", "--json", "-", "--variable", &base];
    let ended = run(&nats, &[&["--agents", "2", "--", &path][..], &load].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/sessions/finished")), (80, 40), "{result:#}");
    let entries = result["entries"].as_array().expect("it is a list");
    let names: Vec<_> = entries.iter().map(|entry| entry["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["GET /page/first", "POST /order"], "{result:#}");
    let texts = server.texts();
    let begin = |begin: &str| texts.iter().filter(|text| text.starts_with(begin)).count();
    // One iteration more than those of the agents has shown where the requests go.
    assert_eq!([begin("GET /setup "), begin("GET /page/first?"), begin("GET /teardown/first ")], [1, 41, 1]);
    let users = texts.iter().filter_map(|text| text.strip_prefix("GET /page/first?user=")?.split(' ').next());
    assert_eq!(users.collect::<BTreeSet<_>>(), BTreeSet::from(["1", "2", "3", "4"]));
}

#[test]
fn an_agent_without_consent_runs_no_script() {
    let (nats, server) = (NatsServer::start(), Script::start(answering(OK)));
    let _agent = nats.agent("one", &[]);
    let folder = tempfile::tempdir().expect("there is room");
    let (path, base) = (write(folder.path()), format!("BASE={}", server.url()));
    let ended = run(&nats, &["--agents", "1", "--", &path, "-d", "1s", "--variable", &base]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("scripts are not permitted: add --scripts"), "{ended:?}");
    let last = server.texts().pop().expect("setup has run");
    assert!(last.starts_with("GET /teardown/first "), "{last}");
    let refused = run(&nats, &["--", &path, "-H", "a: b", "-d", "1s"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--header is not supported"), "{refused:?}");
}
