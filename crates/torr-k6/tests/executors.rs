//! Executors, thresholds, metrics and `k6/execution` in whole runs.

mod common;

use common::{Ended, run};
use torr_k6::summary::data::{Metric, Values};
use torr_test_support::script::{OK, Script, answering};

fn metric<'e>(ended: &'e Ended, name: &str) -> &'e Metric {
    let metrics = &ended.end.summary.metrics;
    metrics.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", metrics.keys().collect::<Vec<_>>()))
}

/// Returns the sorted words after `mark` in the lines of the console.
fn marked(ended: &Ended, mark: &str) -> Vec<String> {
    let after = |line: &str| Some(line.split_once(mark)?.1.split(['"', ' ']).next()?.to_owned());
    let mut found: Vec<_> = ended.log.lines().filter_map(after).collect();
    found.sort();
    found
}

#[test]
fn every_shared_iteration_has_a_number_of_its_own() {
    let script = r#"
        import exec from 'k6/execution';
        import { Counter } from 'k6/metrics';
        const rows = Array.from({length: 40}, (_, n) => n);
        const sum = new Counter('sum'), used = new Counter('used');
        export const options = {scenarios: {s: {executor: 'shared-iterations', vus: '7', iterations: rows.length}}};
        export default function () {
            const at = exec.scenario.iterationInTest;
            sum.add(rows[at]);
            used.add(rows[at] * rows[at]);
            if (exec.vu.idInTest !== __VU || exec.vu.iterationInInstance !== __ITER) throw new Error('numbers');
        }
    "#;
    let ended = run(script, "");
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    let expected = (f64::from(39 * 40 / 2), f64::from(39 * 40 * 79 / 6));
    assert_eq!((ended.count("sum"), ended.count("used"), ended.count("iterations")), (expected.0, expected.1, 40.0));
}

#[test]
fn an_arrival_rate_begins_or_drops_each_iteration() {
    let script = r#"
        import { sleep } from 'k6';
        import { Counter } from 'k6/metrics';
        const begun = new Counter('begun');
        export const options = {scenarios: {
            even: {executor: 'constant-arrival-rate', rate: 50, duration: '2s', preAllocatedVUs: 5, exec: 'short'},
            full: {executor: 'constant-arrival-rate', rate: 10, duration: '2s', preAllocatedVUs: 1, maxVUs: 3, exec: 'long',
                   gracefulStop: '0s', tags: {own: 'yes'}},
            ramp: {executor: 'ramping-arrival-rate', stages: [{duration: '2s', target: 40}], preAllocatedVUs: 4, exec: 'short'},
        }, thresholds: {'begun{scenario:even}': ['count<=100'], 'begun{scenario:full}': ['count==3'],
            'begun{own:yes}': ['count==3'], 'dropped_iterations{own:yes}': ['count==0'],
            'begun{scenario:ramp}': ['count<=40'], 'dropped_iterations{scenario:even}': ['count<100'],
            'dropped_iterations{scenario:full}': ['count==17'], 'dropped_iterations{scenario:ramp}': ['count<40']}};
        export function short() { begun.add(1); }
        export function long() { begun.add(1); sleep(1e6); }
    "#;
    let ended = run(script, "");
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    let begun = |scenario: &str| ended.count(&format!("begun{{scenario:{scenario}}}"));
    let dropped = |scenario: &str| ended.count(&format!("dropped_iterations{{scenario:{scenario}}}"));
    assert_eq!((begun("even") + dropped("even"), begun("ramp") + dropped("ramp")), (100.0, 40.0));
    assert_eq!((begun("full"), dropped("full")), (3.0, 17.0));
    let warnings = |scenario: &str| {
        let end = format!("scenario={scenario}");
        ended.log.lines().filter(|line| line.contains("Insufficient VUs") && line.ends_with(&end)).count()
    };
    assert_eq!(warnings("full"), 1, "{}", ended.log);
    // On a busy machine the other two may drop iterations too.
    for scenario in ["even", "ramp"] {
        assert!(warnings(scenario) <= usize::from(dropped(scenario) > 0.0), "{}", ended.log);
    }
    assert_eq!(ended.count("iterations"), begun("even") + begun("ramp"));
}

#[test]
fn virtual_users_are_handed_over_with_their_variables() {
    let script = r#"
        import exec from 'k6/execution';
        import { Counter } from 'k6/metrics';
        const seen = new Counter('seen');
        let before = [];
        export const options = {tags: {run: 'r'}, scenarios: {
            a: {executor: 'per-vu-iterations', iterations: 2, maxDuration: '1s', gracefulStop: '0s', env: {WHO: 'a'}, tags: {own: '1'}},
            b: {executor: 'per-vu-iterations', iterations: 1, startTime: '1s', env: {OTHER: 'b'}, exec: 'second'},
        }, thresholds: {'seen{own:1}': ['count==2'], 'seen{scenario:b}': ['count==1'], 'seen{run:r}': ['count==3']}};
        export default function () {
            seen.add(1);
            before.push(__ENV.WHO);
            __ENV.MINE = 'x';
            exec.vu.tags.left = 'over';
        }
        export function second() {
            seen.add(1);
            console.log('found=' + JSON.stringify([__VU, __ITER, before, __ENV.WHO, __ENV.OTHER, __ENV.MINE, exec.vu.tags.left,
                exec.vu.iterationInScenario]).replaceAll('"', "'"));
        }
    "#;
    let ended = run(script, "");
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    assert_eq!(marked(&ended, "found="), ["[1,2,['a','a'],null,'b',null,null,0]"]);
}

#[test]
fn stages_bring_virtual_users_and_take_them_away() {
    let script = r#"
        import { sleep } from 'k6';
        export const options = {
            stages: [{duration: '1s', target: 3}, {duration: '1s', target: 3}, {duration: 0, target: 0}], vus: 0,
        };
        let n = 0;
        export default function () { if (n++ === 0) console.log('vu=' + __VU); sleep(0.05); }
    "#;
    let ended = run(script, "");
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    assert_eq!(marked(&ended, "vu="), ["1", "2", "3"]);
    let Values::Gauge { max, .. } = metric(&ended, "vus_max").values else { panic!("it is a gauge") };
    assert_eq!(max, 3.0);
}

#[test]
fn iterations_are_padded() {
    let script = r#"
        export const options = {iterations: 3, minIterationDuration: '0.2s'};
        const begun = Date.now();
        export default function () { console.log('at=' + (Date.now() - begun >= __ITER * 199)); }
    "#;
    let ended = run(script, "");
    assert_eq!(marked(&ended, "at="), ["true", "true", "true"]);
    let Values::Trend(stats) = &metric(&ended, "iteration_duration").values else { panic!("it is a trend") };
    let min = stats.iter().find(|(name, _)| name == "min").expect("it is among the defaults").1;
    assert!(min < 199.0, "the padding counts: {stats:?}");
}

#[test]
fn crossed_thresholds_are_named_and_have_an_exit_code() {
    let script = r#"
        import http from 'k6/http';
        import { check } from 'k6';
        export const options = {iterations: 4, thresholds: {
            http_reqs: ['count==4', 'rate>0'], checks: ['rate==0.5'], 'checks{check:up}': ['rate>0.9', {threshold: 'rate>0.1'}],
            http_req_duration: ['p(95)>=0', 'max<60000'], 'http_req_duration{status:200}': ['avg>0'], http_req_failed: ['rate<1'],
            'http_reqs{status:500}': ['count<1'], iterations: ['count<2'], vus: ['value<100'],
        }};
        export default function () { const res = http.get(__ENV.URL); check(res, {up: () => __ITER > 1, 'is 200': r => r.status === 200 && __ITER < 2}); }
    "#;
    let server = Script::start(answering(OK));
    let ended = run(script, &server.url());
    assert_eq!(ended.end.exit_code, 99, "{}", ended.log);
    assert_eq!(ended.end.crossed, ["checks{check:up}", "iterations"]);
    assert!(ended.log.contains("'checks{check:up}, iterations'"), "{}", ended.log);
    let outcomes: Vec<_> = metric(&ended, "checks{check:up}").thresholds.iter().map(|threshold| threshold.ok).collect();
    assert_eq!(outcomes, [false, true]);
}

#[test]
fn a_crossed_threshold_stops_a_test() {
    let script = r#"
        import { sleep } from 'k6';
        import { Rate } from 'k6/metrics';
        const bad = new Rate('bad');
        export const options = {vus: 2, duration: '10h', thresholds: {bad: [{threshold: 'rate<0.5', abortOnFail: true}]}};
        export default function () { bad.add(1); sleep(1e6); }
        export function teardown() { console.log('teardown=yes'); }
    "#;
    let ended = run(script, "");
    assert_eq!(ended.end.exit_code, 99, "{}", ended.log);
    assert_eq!(marked(&ended, "teardown="), ["yes"]);
    assert_eq!(ended.count("iterations"), 0.0);
}

#[test]
fn scripts_stop_or_fail_their_test() {
    let abort = r#"
        import exec from 'k6/execution';
        export const options = {vus: 2, duration: '10h'};
        export default function () { try { exec.test.abort('enough'); } catch (error) {} for (;;) {} }
        export function teardown() { console.log('teardown=yes'); }
    "#;
    let ended = run(abort, "");
    assert_eq!(ended.end.exit_code, 108, "{}", ended.log);
    assert_eq!((marked(&ended, "teardown="), ended.count("iterations")), (vec!["yes".to_owned()], 0.0));
    let fail = r#"
        import exec from 'k6/execution';
        export const options = {iterations: 2};
        export default function () { exec.test.fail('bad'); }
    "#;
    let ended = run(fail, "");
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (110, 2.0), "{}", ended.log);
}

#[test]
fn groups_checks_and_metrics_reach_the_summary() {
    let script = r#"
        import http from 'k6/http';
        import { check, group, fail } from 'k6';
        import { Trend, Gauge } from 'k6/metrics';
        const size = new Trend('size'), left = new Gauge('left');
        export const options = {iterations: 2, summaryTrendStats: ['count', 'avg', 'p(50)'],
            thresholds: {'http_reqs{group:::setup}': ['count==1'], 'group_duration{group:::a::b}': ['avg>=0'],
                'http_reqs{group:::a::b}': ['count==2']}};
        export function setup() { http.get(__ENV.URL); check(1, {ready: true}); }
        export default function () {
            group('a', () => { check(1, {one: true}); group('b', () => { http.get(__ENV.URL); check(1, {one: __ITER === 0}); }); });
            size.add(__ITER + 1); left.add(5 - __ITER);
            if (__ITER === 1) fail('why');
        }
    "#;
    let server = Script::start(answering(OK));
    let ended = run(script, &server.url());
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    assert!(ended.log.contains("why"), "{}", ended.log);
    let root = &ended.end.summary.root;
    let a = root.groups.iter().find(|group| group.name == "a").expect("it ran");
    assert_eq!((a.checks[0].passes, a.checks[0].fails), (2, 0));
    let b = &a.groups[0];
    assert_eq!((&*b.path, &*b.checks[0].path, b.checks[0].passes, b.checks[0].fails), ("::a::b", "::a::b::one", 1, 1));
    let expected = [("count".to_owned(), 2.0), ("avg".to_owned(), 1.5), ("p(50)".to_owned(), 1.5)];
    assert_eq!(metric(&ended, "size").values, Values::Trend(expected.to_vec()));
    assert_eq!(metric(&ended, "left").values, Values::Gauge { value: 4.0, min: 4.0, max: 5.0 });
    assert_eq!((ended.count("iterations"), ended.rate("checks")), (2.0, 0.8));
}
