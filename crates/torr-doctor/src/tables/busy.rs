//! What is busy: all CPU, one thread of several, the database, what an ORM makes of a query.

use super::case::{FULL, RUNGS, peer, service, thread, uses};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::{CheapRequest, ExperimentId as Id};
use torr_gauge::{Confidence, Factor};

/// Returns equal threads: the CPU in cores of each, and the share of the time in which it waits for a CPU.
fn threads(count: i32, cores: f64, queued: f64) -> Vec<Value> {
    (1..=count).map(|tid| thread(tid, cores, queued)).collect()
}

/// Whether a cheap request is sent in an experiment.
fn is_cheap(id: Id, request: CheapRequest) -> bool {
    [Id::Cheap(request), Id::Beside(request), Id::LightLoad(request)].contains(&id)
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    // A millisecond of CPU for each request.
    let one = || service(1e-3, 1000.0);
    let four = || service(1e-3, 3900.0);
    let others = || json!({"signals": {"others": [{"name": "rustc", "cores": 1.8}]}});
    let both_worked = || uses(0.4, vec![thread(1, 0.6, 0.0), thread(2, 0.6, 0.0)]);
    let one_idles = || uses(0.4, vec![thread(1, 0.97, 0.02), thread(2, 0.02, 0.0)]);
    let database = |cores: f64, threads: Vec<Value>, more: Value| peer("database", cores, threads, more);
    let slow_query = || service(5e-3, 800.0).everywhere(uses(0.7, vec![thread(1, 0.2, 0.0)]));
    let queries = |trips: f64| json!({"sends_per_s": 800.0 * trips});
    let fetched = |bytes: f64| json!({"bytes_per_s": 800.0 * bytes, "sends_per_s": 800.0});
    let full_server = || uses(0.6, threads(2, 0.93, 0.02));
    vec![
        (
            "four full threads on four CPUs",
            four().everywhere(uses(0.97, threads(4, 0.96, 0.02))),
            Factor::ServerCpu,
            Certain,
        ),
        (
            "the same where a service that does nothing does hardly more",
            four().empty(5000.0, 2000.0).everywhere(uses(0.97, threads(4, 0.96, 0.02))),
            Factor::ServerCpu,
            Likely,
        ),
        (
            "threads of a runtime that have 84% of a machine of which 91% is used, and never wait for it",
            four().everywhere(uses(0.91, threads(4, 0.84, 0.02))),
            Factor::ServerCpu,
            Certain,
        ),
        ("one full thread of two", one().everywhere(one_idles()), Factor::SingleCore, Certain),
        (
            "one full thread of two, of which the other had worked before",
            one().at(RUNGS, both_worked()).at(FULL, one_idles()).at(|id| id == Id::FullSpread, one_idles()),
            Factor::SingleCore,
            Likely,
        ),
        (
            "two threads share one CPU, and others wait",
            one().others_wait(9e-4).everywhere(uses(0.3, threads(2, 0.5, 0.2))),
            Factor::SingleCore,
            Likely,
        ),
        (
            "two threads use one CPU, and others do not wait",
            // It was unknown before a lock that is held while computing had its own verdict.
            one().everywhere(uses(0.3, threads(2, 0.5, 0.2))),
            Factor::Lock,
            Likely,
        ),
        (
            "the same where requests also wait without the lock",
            service(4e-3, 1000.0).everywhere(uses(0.3, threads(4, 0.25, 0.2))),
            Factor::Lock,
            Likely,
        ),
        (
            "the same by accident: the threads wait for the connections to a database",
            service(4e-3, 1000.0).everywhere(uses(0.3, threads(4, 0.25, 0.2))).everywhere(database(
                0.1,
                vec![],
                json!({"connections": 4.0, "connections_max": 4, "waiting": 3.9}),
            )),
            Factor::Database,
            Certain,
        ),
        ("two full threads on four CPUs", service(1e-3, 1950.0).everywhere(full_server()), Factor::Workers, Certain),
        (
            "the machine is full, and most of it is the generator's",
            one()
                .load(|setting| setting.threads = 3)
                .everywhere(uses(1.0, threads(2, 0.3, 0.3)))
                .everywhere(json!({"run": {"generator": {"cpu_share": 0.95}}})),
            Factor::Generator,
            Likely,
        ),
        (
            "others use two CPUs of four, and the server gets what it asks for",
            one().everywhere(uses(0.8, vec![thread(1, 0.97, 0.02)])).everywhere(others()),
            Factor::SingleCore,
            Certain,
        ),
        (
            "a database with a full thread",
            slow_query().everywhere(database(1.9, threads(2, 0.95, 0.0), queries(1.0))),
            Factor::Database,
            Certain,
        ),
        (
            "a database with a full thread, and no cheaper request to compare with",
            slow_query()
                .at(|id| is_cheap(id, CheapRequest::AbsentPath), json!({"times": {"answered": {"median_us": 5000.0}}}))
                .at(|id| is_cheap(id, CheapRequest::WithoutHost), json!({"times": {"answered": {"median_us": 5000.0}}}))
                .everywhere(database(1.9, threads(2, 0.95, 0.0), queries(1.0))),
            Factor::Database,
            Likely,
        ),
        (
            "the same of a service that is no database",
            slow_query().everywhere(peer("other", 1.9, threads(2, 0.95, 0.0), json!({"address": "/run/app.sock"}))),
            Factor::Workers,
            Certain,
        ),
        (
            "forty messages to the database for each request",
            slow_query().everywhere(database(1.9, threads(2, 0.95, 0.0), queries(40.0))),
            Factor::Orm,
            Likely,
        ),
        (
            "a full server that asks the database once for each request",
            service(5e-3, 800.0).everywhere(full_server()).everywhere(database(0.2, vec![], queries(1.0))),
            Factor::Workers,
            Likely,
        ),
        (
            "a full server that fetches far more than it responds with",
            service(5e-3, 800.0).everywhere(full_server()).everywhere(database(0.2, vec![], fetched(50_000.0))),
            Factor::Orm,
            Likely,
        ),
        (
            "a server that hands on what it fetches",
            service(5e-3, 800.0).body(50_000.0).everywhere(full_server()).everywhere(database(
                0.2,
                vec![],
                fetched(50_000.0),
            )),
            Factor::Workers,
            Likely,
        ),
    ]
}

#[test]
fn busy_programs_are_distinguished() {
    check(rows());
}
