//! `k6`, `k6/metrics` and `k6/execution` as scripts see them.

use super::builtins;
use crate::executors::{Conductor, ExecutionPlan};
use crate::log::{Log, LogSettings};
use crate::machine::Machine;
use crate::metrics::{Collector, CurrentTags, Merged, MetricKind, MetricsPlan, Recorder, Registry, Sink};
use crate::modules::{Access, Program};
use crate::options::{Options, layered};
use crate::shared::RunShared;
use crate::user::{IterationTask, Task, TaskEnd, Vu};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a test script begins with: `at` notes the outcome of a function under a name.
const BEGIN: &str = "
    const found = {};
    const at = (name, call) => { try { found[name] = call(); } catch (error) { found[name] = String(error); } };
";

/// A script with one virtual user.
struct Script {
    machine: Machine,
    collector: Collector,
}

impl Script {
    fn new(text: &str, options: &Value) -> Self {
        let registry = Registry::default();
        let mine = registry.register("mine", MetricKind::Trend, true).expect("the name is new");
        let plan = MetricsPlan::new(&registry, ["checks{check:x}", "mine{tag:1}"], false).expect("all are metrics");
        assert_eq!(registry.find("mine"), Some(mine));
        let collector = Collector::new(Arc::new(plan));
        let (script, _) = Options::from_json(options).expect("the options make sense");
        let none = Options::default();
        let options = layered(&none, &script, &none, &none).expect("the options make sense");
        let plan = ExecutionPlan::new(&options.scenarios, None).expect("the options make sense");
        let tags = options.options.tags.clone().unwrap_or_default();
        let log = Log::to(LogSettings::default(), None, false);
        let run = RunShared { registry, log, ..RunShared::default() };
        run.options.set(options).expect("it is new");
        run.conductor.set(Arc::new(Conductor::new(plan, 1))).expect("it is new");
        run.started.set(Instant::now()).expect("it is new");
        let recorder = Rc::new(RefCell::new(Recorder::new(&collector, None)));
        let vu = Vu::new(Arc::new(run), 7, recorder);
        *vu.tags.borrow_mut() = CurrentTags::new(Default::default(), &tags);
        let fetch = Box::new(|_: &str| Err("no network".to_owned()));
        let access = Access::new(&std::env::temp_dir(), None, true, fetch).expect("the folder exists");
        let text = format!("{text}\n{BEGIN}");
        let program = Program::from_text("script.js", text.into(), access, builtins()).expect("the script is loaded");
        let machine = Machine::new(vu, &Arc::new(program)).expect("a machine starts");
        Self { machine, collector }
    }

    /// Runs the top level, and the function for an iteration; returns what the script has found.
    fn found(&mut self) -> Value {
        match self.machine.run(Task::Init, None) {
            TaskEnd::Loaded(_) => {}
            other => panic!("{other:?}"),
        }
        self.begin_scenario();
        match self.machine.run(Task::Iteration(IterationTask::first("default")), None) {
            TaskEnd::Threw(error) => serde_json::from_str(&error.message).unwrap_or_else(|_| panic!("{error:?}")),
            other => panic!("{other:?}"),
        }
    }

    fn begin_scenario(&self) {
        let vu = &self.machine.vu;
        let conductor = vu.run.conductor.get().expect("it was set");
        conductor.start(0);
        let scenario = &conductor.plan().scenarios[0];
        let run = vu.run.options.get().and_then(|options| options.options.tags.clone()).unwrap_or_default();
        vu.tags.borrow_mut().begin_scenario(&run, &scenario.name, &scenario.tags);
        let mut info = vu.iteration.borrow_mut();
        (info.scenario, info.in_test, info.in_scenario, info.in_instance) = (Some(0), 41, 5, Some(6));
    }

    fn merged<T>(&self, read: impl FnOnce(&mut Merged) -> T) -> T {
        self.machine.vu.recorder.borrow_mut().hand_over();
        read(&mut self.collector.merged())
    }

    fn sink(&self, name: &str, selector: Option<&str>) -> Sink {
        self.merged(|merged| {
            let metric = merged.metrics().find(|metric| &*metric.info.name == name).expect("it has samples");
            metric.values(selector).expect("it is kept").clone()
        })
    }

    fn rate(&self, name: &str, selector: Option<&str>) -> (u64, u64) {
        match self.sink(name, selector) {
            Sink::Rate(rate) => (rate.passes, rate.total),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn checks_are_counted_and_never_stop_a_script() {
    let mut script = Script::new(
        "import k6, { check, group } from 'k6';
         let before; try { check(1, {a: true}); } catch (error) { before = String(error); }
         export default () => {
            at('init', () => before);
            at('all', () => check({v: 1}, {x: o => o.v === 1, y: 'text', z: []}));
            at('one', () => check(1, {x: 0, y: () => null}));
            at('throws', () => check(1, {x() { throw new Error('boom'); }, never: true}));
            at('tags', () => group('g', () => k6.check(1, {x: true}, {t: 1})));
            at('tag', () => check(1, {x: true}, {t: {}}));
            at('name', () => check(1, {'a::b': true}));
            at('async', () => check(1, {a: async () => true}));
            at('none', () => check(1));
            at('null', () => check(1, null));
            throw JSON.stringify(found);
         };",
        &json!({}),
    );
    let found = script.found();
    assert_eq!((&found["all"], &found["one"], &found["tags"]), (&json!(true), &json!(false), &json!(true)));
    assert_eq!(found["throws"], "Error: boom");
    for (name, part) in [
        ("init", "init context"),
        ("tag", "metric tag 't'"),
        ("name", "'::'"),
        ("async", "async"),
        ("none", "GoError"),
        ("null", "TypeError"),
    ] {
        assert!(found[name].as_str().is_some_and(|text| text.contains(part)), "{name}: {found}");
    }
    assert_eq!((script.rate("checks", None), script.rate("checks", Some("check:x"))), ((4, 7), (2, 4)));
    let checks = script.merged(|merged| merged.checks().to_vec());
    let counts: Vec<_> =
        checks.iter().map(|count| (&*count.key.group, &*count.key.name, count.passes, count.fails)).collect();
    assert_eq!(counts, [("", "x", 1, 2), ("", "y", 1, 1), ("", "z", 1, 0), ("::g", "x", 1, 0)]);
    assert_eq!(&*checks[0].key.scenario, "default");
}

#[test]
fn groups_nest_and_end_with_their_functions() {
    let mut script = Script::new(
        "import { group, sleep } from 'k6'; import { vu } from 'k6/execution';
         export default () => {
            at('nested', () => group('a', () => group('b', () => vu.tags.group)));
            at('throws', () => group('a', () => { throw new Error('boom'); }));
            at('after', () => vu.tags.group);
            at('name', () => group('a::b', () => 1));
            at('function', () => group('a'));
            at('async', () => group('a', async () => 1));
            at('slept', () => { const begun = Date.now(); group('s', () => sleep(0.02)); return Date.now() - begun >= 19; });
            throw JSON.stringify(found);
         };",
        &json!({}),
    );
    let found = script.found();
    assert_eq!((&found["nested"], &found["throws"]), (&json!("::a::b"), &json!("Error: boom")));
    assert_eq!((&found["after"], &found["slept"]), (&json!(""), &json!(true)));
    for name in ["name", "function", "async"] {
        assert!(found[name].as_str().is_some_and(|text| text.starts_with("GoError: ")), "{name}: {found}");
    }
    let Sink::Trend(trend) = script.sink("group_duration", None) else { panic!("it is a trend") };
    assert_eq!((trend.len(), trend.max() >= 19.0), (4, true));
}

#[test]
fn sleeps_failures_and_seeds() {
    let mut script = Script::new(
        "import { fail, sleep, randomSeed } from 'k6';
         export default () => {
            at('sleep', () => { for (const time of [undefined, NaN, -1, 0, null, 'x', '0.001', {}]) sleep(time); sleep(); return 1; });
            at('fail', () => fail('why'));
            at('empty', () => { try { fail(); } catch (error) { return error.message; } });
            at('seeded', () => {
                randomSeed(5); const first = [Math.random(), Math.random()];
                randomSeed(5); const second = [Math.random(), Math.random()];
                randomSeed(6);
                return first[0] === second[0] && first[1] === second[1] && first[0] !== first[1]
                    && Math.random() !== first[0] && first.every(n => n >= 0 && n < 1);
            });
            throw JSON.stringify(found);
         };",
        &json!({}),
    );
    assert_eq!(script.found(), json!({"sleep": 1, "fail": "GoError: why", "empty": "", "seeded": true}));
}

#[test]
fn metrics_take_numbers_with_tags() {
    let mut script = Script::new(
        "import { Counter, Gauge, Rate, Trend } from 'k6/metrics'; import * as all from 'k6/metrics'; import one from 'k6/metrics';
         const trend = new Trend('mine', true), rate = new Rate('share'), counter = new all.Counter('number');
         const made = {};
         for (const [name, make] of Object.entries({
            other: () => new Gauge('mine'), bad: () => new one.Gauge('a b'), again: () => new Trend('mine', true).name,
            init: () => rate.add(1),
         })) { try { made[name] = make(); } catch (error) { made[name] = String(error); } }
         export default () => {
            at('made', () => made);
            at('name', () => trend.name + JSON.stringify(counter));
            at('added', () => [trend.add(1.5), trend.add('2.5', {tag: 1}), rate.add(true), rate.add(false), rate.add(3), counter.add(-1)]);
            at('not', () => [trend.add('abc'), trend.add(null), trend.add(), trend.add({}), trend.add(NaN)]);
            at('tag', () => trend.add(1, {tag: undefined}));
            at('new', () => new Counter('later'));
            const { add } = counter;
            at('free', () => add(5));
            throw JSON.stringify(found);
         };",
        &json!({}),
    );
    let found = script.found();
    assert_eq!(found["name"], "mine{\"name\":\"number\"}");
    assert_eq!(found["added"], json!([true, true, true, true, true, true]));
    assert_eq!(found["not"], json!([false, false, false, false, false]));
    assert_eq!((&found["free"], &found["made"]["again"]), (&json!(true), &json!("mine")));
    for text in [&found["made"]["other"], &found["made"]["bad"], &found["made"]["init"], &found["tag"], &found["new"]] {
        assert!(text.as_str().is_some_and(|text| text.starts_with("GoError: ")), "{found}");
    }
    let trend = |selector| match script.sink("mine", selector) {
        Sink::Trend(trend) => (trend.len(), trend.mean()),
        other => panic!("{other:?}"),
    };
    assert_eq!((trend(None), trend(Some("tag:1"))), ((2, 2.0), (1, 2.5)));
    assert_eq!(script.rate("share", None), (2, 3));
    assert!(matches!(script.sink("number", None), Sink::Counter { sum: 4.0, samples: 2 }));
}

#[test]
fn a_value_that_is_no_number_throws_if_the_options_say_so() {
    let mut script = Script::new(
        "import { Counter } from 'k6/metrics'; const counter = new Counter('number');
         export default () => { at('bad', () => counter.add('abc')); throw JSON.stringify(found); };",
        &json!({"throw": true}),
    );
    assert!(script.found()["bad"].as_str().is_some_and(|text| text.contains("'abc'")));
}

#[test]
fn a_script_knows_its_run() {
    let mut script = Script::new(
        "import exec, { scenario, vu } from 'k6/execution';
         let before = {};
         for (const [name, get] of Object.entries({
            vu: () => exec.vu.idInTest, scenario: () => scenario.name, options: () => exec.test.options,
            instance: () => exec.instance.vusActive, metrics: () => vu.metrics,
         })) { try { get(); before[name] = null; } catch (error) { before[name] = String(error); } }
         export function setup() { try { return scenario.name; } catch (error) { return String(error); } }
         export default () => {
            at('before', () => before);
            at('scenario', () => ({...scenario}));
            at('vu', () => [vu.idInTest, vu.idInInstance, vu.iterationInInstance, vu.iterationInScenario]);
            at('instance', () => ({...exec.instance}));
            at('options', () => exec.test.options);
            at('same', () => exec.test.options === exec.test.options && vu.tags === vu.tags);
            at('frozen', () => { exec.test.options.tags.run = 5; });
            at('read only', () => { scenario.name = 'x'; });
            throw JSON.stringify(found);
         };",
        &json!({"tags": {"run": "1"}, "scenarios": {"s": {"executor": "constant-vus", "vus": 3, "duration": "9s"}}}),
    );
    let found = script.found();
    for (name, value) in found["before"].as_object().expect("it is an object") {
        assert!(value.as_str().is_some_and(|text| text.starts_with("GoError: ")), "{name}: {value}");
    }
    let scenario = &found["scenario"];
    assert_eq!((&scenario["name"], &scenario["executor"]), (&json!("s"), &json!("constant-vus")));
    assert_eq!((&scenario["iterationInTest"], &scenario["iterationInInstance"]), (&json!(41), &json!(41)));
    assert!(scenario["startTime"].as_f64().is_some_and(|time| time > 1.7e12), "{scenario}");
    assert!(scenario["progress"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{scenario}");
    assert_eq!(found["vu"], json!([7, 7, 6, 5]));
    assert_eq!(
        (&found["instance"]["vusInitialized"], &found["instance"]["iterationsCompleted"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(
        (&found["options"]["tags"], &found["options"]["scenarios"]["s"]["vus"]),
        (&json!({"run": "1"}), &json!(3))
    );
    assert_eq!((found["options"].get("vus"), &found["same"]), (None, &json!(true)));
    for name in ["frozen", "read only"] {
        assert!(found[name].as_str().is_some_and(|text| text.starts_with("TypeError")), "{name}: {found}");
    }
    let TaskEnd::Returned(Some(data)) = script.machine.run(Task::Setup, None) else { panic!("setup failed") };
    assert!(data.contains("iterations only"), "{data}");
}

#[test]
fn tags_of_a_virtual_user_are_changed_by_its_script() {
    let mut script = Script::new(
        "import exec from 'k6/execution'; import { Trend } from 'k6/metrics'; const trend = new Trend('mine', true);
         export default () => {
            const { tags } = exec.vu, { metadata } = exec.vu.metrics;
            tags.tag = 1; tags['flag'] = true; trend.add(4);
            at('tags', () => ({...exec.vu.metrics.tags}));
            at('keys', () => Object.keys(tags));
            at('in', () => ['tag' in tags, 'nope' in tags, tags.nope === undefined]);
            delete tags.tag; trend.add(5);
            at('bad', () => { tags.x = {}; });
            at('null', () => { tags.x = null; });
            metadata.trace = 'abc';
            at('metadata', () => metadata);
            throw JSON.stringify(found);
         };",
        &json!({"tags": {"run": "1"}}),
    );
    let found = script.found();
    assert_eq!(found["tags"], json!({"flag": "true", "group": "", "run": "1", "scenario": "default", "tag": "1"}));
    assert_eq!(found["keys"], json!(["flag", "group", "run", "scenario", "tag"]));
    assert_eq!((&found["in"], &found["metadata"]), (&json!([true, false, true]), &json!({"trace": "abc"})));
    for name in ["bad", "null"] {
        assert!(found[name].as_str().is_some_and(|text| text.contains("metric tag 'x'")), "{name}: {found}");
    }
    assert!(matches!(script.sink("mine", Some("tag:1")), Sink::Trend(trend) if trend.len() == 1));
    let expected: BTreeMap<_, _> = [("flag", "true"), ("group", ""), ("run", "1"), ("scenario", "default")].into();
    let tags = script.machine.vu.tags.borrow();
    assert_eq!(
        tags.tags().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<BTreeMap<_, _>>(),
        expected
    );
}

#[test]
fn a_script_stops_its_run_and_cannot_catch_that() {
    let mut script = Script::new(
        "import { test } from 'k6/execution'; import { group } from 'k6';
         export default () => { test.fail('bad'); try { group('g', () => test.abort('enough')); } catch (error) {} while (true) {} };",
        &json!({}),
    );
    match script.machine.run(Task::Init, None) {
        TaskEnd::Loaded(_) => {}
        other => panic!("{other:?}"),
    }
    script.begin_scenario();
    let deadline = Instant::now() + Duration::from_secs(60);
    let end = script.machine.run(Task::Iteration(IterationTask::first("default")), Some(deadline));
    assert!(matches!(end, TaskEnd::Interrupted), "{end:?}");
    assert!(Instant::now() < deadline, "the script went on");
    let control = &script.machine.vu.run.control;
    assert_eq!(control.cause(), Some(crate::control::StopCause::Aborted("enough".to_owned())));
    assert_eq!(control.failure().as_deref(), Some("bad"));
    assert_eq!(script.machine.vu.tags.borrow().group(), "");
}
