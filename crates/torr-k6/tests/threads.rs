//! Several load threads: what virtual users see and what is counted does not depend on their number.

mod common;

use common::{Ended, run_on};
use std::collections::BTreeSet;
use torr_test_support::script::{OK, Script, answering};

/// Returns the sorted words after `mark` in the lines of the console.
fn marked(ended: &Ended, mark: &str) -> Vec<String> {
    let after = |line: &str| Some(line.split_once(mark)?.1.split(['"', ' ']).next()?.to_owned());
    let mut found: Vec<_> = ended.log.lines().filter_map(after).collect();
    found.sort();
    found
}

/// Returns the number of load threads that a run had.
fn threads(ended: &Ended) -> usize {
    ended.end.measured.as_ref().expect("the load began").result.plan.threads.expect("it is known")
}

#[test]
fn shared_iterations_have_their_numbers_over_all_threads() {
    let server = Script::start(answering(OK));
    let script = r#"
        import http from 'k6/http';
        import exec from 'k6/execution';
        import { SharedArray } from 'k6/data';
        import { Counter } from 'k6/metrics';
        const rows = new SharedArray('rows', () => { console.log('made=rows'); return Array.from({length: 60}, (_, n) => n); });
        const sum = new Counter('sum'), squares = new Counter('squares');
        export const options = {
            scenarios: {s: {executor: 'shared-iterations', vus: 8, iterations: 60}},
            thresholds: {sum: ['count==1770'], http_reqs: ['count==62'], iterations: ['count==60']},
        };
        export function setup() { return http.get(__ENV.URL).status; }
        let own = 0;
        export default function (status) {
            const at = exec.scenario.iterationInTest;
            sum.add(rows[at]);
            squares.add(rows[at] * rows[at]);
            if (exec.vu.idInTest !== __VU || exec.vu.iterationInInstance !== own++ || status !== 200) throw new Error('numbers');
            http.get(__ENV.URL);
            console.log('vu=' + __VU);
        }
        export function teardown(status) { http.get(__ENV.URL); console.log('torn=' + status); }
    "#;
    let ended = run_on(3, script, &server.url());
    assert_eq!((ended.end.exit_code, threads(&ended)), (0, 3), "{}", ended.log);
    assert_eq!((ended.count("sum"), ended.count("squares")), (1770.0, f64::from(59 * 60 * 119 / 6)));
    assert_eq!((marked(&ended, "made="), marked(&ended, "torn=")), (vec!["rows".to_owned()], vec!["200".to_owned()]));
    let users: Vec<_> = marked(&ended, "vu=");
    assert_eq!(users.len(), 60);
    let distinct: BTreeSet<u32> = users.iter().map(|id| id.parse().expect("it is a number")).collect();
    assert!(distinct.iter().all(|id| (1..=8).contains(id)), "{distinct:?}");
}

#[test]
fn each_user_runs_all_of_its_iterations() {
    let script = r#"
        import exec from 'k6/execution';
        export const options = {scenarios: {s: {executor: 'per-vu-iterations', vus: 7, iterations: 3}}};
        export default function () {
            console.log('at=' + [__VU, __ITER, exec.vu.iterationInScenario, exec.instance.vusInitialized].join('.'));
        }
    "#;
    let ended = run_on(4, script, "");
    assert_eq!((ended.end.exit_code, threads(&ended)), (0, 4), "{}", ended.log);
    let expected: Vec<_> = (1..=7).flat_map(|vu| (0..3).map(move |at| format!("{vu}.{at}.{at}.7"))).collect();
    assert_eq!(marked(&ended, "at="), expected);
}

#[test]
fn an_arrival_rate_begins_or_drops_each_iteration_over_all_threads() {
    let script = r#"
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        import { Counter } from 'k6/metrics';
        const begun = new Counter('begun'), numbers = new Counter('numbers');
        export const options = {scenarios: {
            even: {executor: 'constant-arrival-rate', rate: 60, duration: '2s', preAllocatedVUs: 6, exec: 'short'},
            full: {executor: 'constant-arrival-rate', rate: 10, duration: '2s', preAllocatedVUs: 1, maxVUs: 4, exec: 'long',
                   gracefulStop: '0s'},
        }, thresholds: {'begun{scenario:even}': ['count>0'], 'begun{scenario:full}': ['count==4'],
            'dropped_iterations{scenario:even}': ['count>=0'], 'dropped_iterations{scenario:full}': ['count==16']}};
        export function short() { begun.add(1); numbers.add(exec.scenario.iterationInTest); }
        export function long() { begun.add(1); console.log('long=' + __VU); sleep(1e6); }
    "#;
    let ended = run_on(3, script, "");
    assert_eq!((ended.end.exit_code, threads(&ended)), (0, 3), "{}", ended.log);
    let (even, dropped) = (ended.count("begun{scenario:even}"), ended.count("dropped_iterations{scenario:even}"));
    assert_eq!(even + dropped, 120.0);
    // The numbers are those of iterations that have begun, without a gap.
    assert_eq!(ended.count("numbers"), even * (even - 1.0) / 2.0);
    assert_eq!(marked(&ended, "long=").len(), 4, "{}", ended.log);
}

#[test]
fn users_are_handed_over_between_scenarios_on_their_own_threads() {
    let script = r#"
        import exec from 'k6/execution';
        let before = 0;
        export const options = {scenarios: {
            a: {executor: 'per-vu-iterations', vus: 5, iterations: 2, maxDuration: '1s', gracefulStop: '0s'},
            b: {executor: 'per-vu-iterations', vus: 5, iterations: 1, startTime: '1s', exec: 'second'},
        }};
        export default function () { before += 1; }
        export function second() { console.log('found=' + [__VU, __ITER, before, exec.vu.iterationInScenario].join('.')); }
    "#;
    let ended = run_on(2, script, "");
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    let expected: Vec<_> = (1..=5).map(|vu| format!("{vu}.2.2.0")).collect();
    assert_eq!(marked(&ended, "found="), expected);
}

#[test]
fn a_stop_interrupts_code_that_never_waits_on_another_thread() {
    let script = r#"
        import exec from 'k6/execution';
        import http from 'k6/http';
        export const options = {vus: 2, duration: '10h'};
        export default function () {
            if (__VU === 1) { console.log('loop=begun'); for (;;) {} }
            http.get(__ENV.URL);
            exec.test.abort('enough');
        }
        export function teardown() { console.log('teardown=yes'); }
    "#;
    let server = Script::start(answering(OK));
    let ended = run_on(2, script, &server.url());
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (108, 0.0), "{}", ended.log);
    assert_eq!(marked(&ended, "teardown="), ["yes"]);
}

#[test]
fn there_are_no_more_threads_than_virtual_users() {
    let ended = run_on(8, "export default function () { console.log('vu=' + __VU); }", "");
    assert_eq!((marked(&ended, "vu="), threads(&ended)), (vec!["1".to_owned()], 1));
}
