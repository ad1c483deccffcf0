//! Forms of options that scripts use, layers, conflicts.

use super::*;
use serde_json::{Value, json};
use std::time::Duration;

fn read(value: &Value) -> Options {
    Options::from_json(value).unwrap_or_else(|error| panic!("{error}")).0
}

fn error(value: &Value) -> String {
    match Options::from_json(value) {
        Err(error) => error.to_string(),
        Ok((options, _)) => only_script(&options).expect_err("the options do not make sense").to_string(),
    }
}

fn only_script(options: &Options) -> Result<Consolidated, OptionError> {
    let none = Options::default();
    layered(&none, options, &none, &none)
}

fn executor(value: &Value) -> Executor {
    let found = only_script(&read(value)).unwrap_or_else(|error| panic!("{error}"));
    let [only] = found.scenarios.as_slice() else { panic!("one scenario: {found:?}") };
    only.executor.clone()
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn numbers_may_be_strings_and_empty_ones_are_unset() {
    let options = read(&json!({"vus": "10", "iterations": 20, "duration": "", "rps": null, "batch": " 7 "}));
    assert_eq!((options.vus, options.iterations, options.duration), (Some(10), Some(20), None));
    assert_eq!((options.rps, options.batch), (None, Some(7)));
    assert_eq!(read(&json!({"vus": ""})).vus, None);
    assert_eq!(read(&json!({"duration": 1500})).duration, Some(Duration::from_millis(1500)));
    assert_eq!(read(&json!({"duration": "1500"})).duration, Some(Duration::from_millis(1500)));
}

#[test]
fn wrong_types_name_the_option() {
    for (value, option) in [
        (json!({"vus": 10.5}), "'vus'"),
        (json!({"vus": "ten"}), "'vus'"),
        (json!({"vus": -1}), "'vus'"),
        (json!({"vus": 1e15}), "'vus'"),
        (json!({"vus": true}), "'vus'"),
        (json!({"throw": "true"}), "'throw'"),
        (json!({"tags": {"a": 1}}), "'tags.a'"),
        (json!({"duration": "ten"}), "'duration'"),
        (json!({"stages": [{"duration": "1s"}]}), "'stages[0].target'"),
        (json!({"stages": [{"duration": "1s", "target": 1, "x": 1}]}), "'stages[0].x'"),
        (json!({"systemTags": ["nope"]}), "'systemTags'"),
        (json!({"summaryTrendStats": ["p(101)"]}), "'summaryTrendStats'"),
        (json!({"summaryTimeUnit": "h"}), "'summaryTimeUnit'"),
        (json!({"tlsVersion": "ssl3.0"}), "'tlsVersion'"),
        (json!({"tlsVersion": {"min": "tls1.3", "max": "tls1.2"}}), "'tlsVersion'"),
        (json!({"dns": {"select": "last"}}), "'dns.select'"),
        (json!({"thresholds": {"checks": "rate>0.9"}}), "'thresholds.checks'"),
        (json!({"thresholds": {"checks": [{"abortOnFail": true}]}}), "'thresholds.checks'"),
        (json!({"executionSegment": "0:1/2"}), "'executionSegment'"),
        (json!("options"), "'options'"),
        (json!({"vus": "a\nb"}), "'vus'"),
        (json!({"vus": "x".repeat(1_000)}), "'vus'"),
        (json!({"userAgent": "a\r\nb: c"}), "'userAgent'"),
    ] {
        let text = error(&value);
        assert!(text.contains(option) && !text.contains('\n') && text.len() < 500, "{value}: {text}");
    }
}

#[test]
fn unknown_keys_are_one_warning() {
    let (_, warnings) = Options::from_json(&json!({"vuss": 1, "foo": 2, "vus": 1})).expect("unknown keys are ignored");
    assert_eq!(warnings, [Warning("unknown options 'foo', 'vuss' are ignored".into())]);
}

#[test]
fn shortcuts_become_scenarios() {
    let shared = |vus, iterations, max| Executor::SharedIterations { vus, iterations, max_duration: seconds(max) };
    assert_eq!(executor(&json!({"iterations": 5, "vus": 2})), shared(2, 5, 600));
    assert_eq!(executor(&json!({"iterations": 5, "duration": "20s"})), shared(1, 5, 20));
    assert_eq!(executor(&json!({"vus": 3})), shared(3, 3, 600));
    assert_eq!(executor(&json!({"vus": 3, "duration": "9s"})), Executor::ConstantVus { vus: 3, duration: seconds(9) });
    let ramping = executor(&json!({"stages": [{"duration": "5s", "target": "4"}]}));
    let stages = vec![Stage { duration: seconds(5), target: 4 }];
    let graceful_ramp_down = seconds(30);
    assert_eq!(ramping, Executor::RampingVus { start_vus: 1, stages, graceful_ramp_down });
    let single = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: seconds(600) };
    for value in [json!({}), json!({"stages": []}), json!({"scenarios": {}})] {
        assert_eq!(executor(&value), single, "{value}");
    }
    let warned = only_script(&read(&json!({"stages": []}))).expect("an empty list is a warning");
    assert_eq!(warned.warnings.len(), 1);
    // An empty list beside another load is no load.
    let beside = json!({"stages": [], "vus": 2, "iterations": 4, "duration": "10s"});
    let beside = only_script(&read(&beside)).expect("an empty list is nothing");
    assert_eq!((&beside.scenarios[0].executor, beside.warnings.len()), (&shared(2, 4, 10), 0));
}

#[test]
fn scenarios_of_shortcuts_are_shown_with_their_keys() {
    let shown = |value: Value| only_script(&read(&value)).expect("the options make sense").shown()["scenarios"].take();
    let all = |keys: Value| {
        let mut all = json!({"startTime": null, "gracefulStop": null, "env": null, "exec": null, "tags": null});
        let keys = keys.as_object().expect("it is an object").clone();
        all.as_object_mut().expect("it is an object").extend(keys);
        json!({"default": all})
    };
    assert_eq!(
        shown(json!({"duration": "5s", "vus": 2})),
        all(json!({"executor": "constant-vus", "vus": 2, "duration": "5s"}))
    );
    assert_eq!(
        shown(json!({"iterations": 3})),
        all(json!({"executor": "shared-iterations", "vus": null, "iterations": 3, "maxDuration": null}))
    );
    let stages = json!([{"duration": "1m0s", "target": 4}]);
    assert_eq!(
        shown(json!({"stages": stages})),
        all(json!({"executor": "ramping-vus", "startVUs": null, "stages": stages, "gracefulRampDown": null}))
    );
    assert_eq!(
        shown(json!({})),
        all(json!({"executor": "per-vu-iterations", "vus": null, "iterations": null, "maxDuration": null}))
    );
}

#[test]
fn vus_alone_replace_scenarios_with_a_warning() {
    let scenarios = json!({"a": {"executor": "constant-vus", "duration": "5s"}});
    let found = only_script(&read(&json!({"vus": 4, "scenarios": scenarios}))).expect("the options make sense");
    assert_eq!(found.scenarios[0].name, "default");
    assert_eq!(found.warnings.len(), 1);
}

#[test]
fn conflicts_of_one_layer() {
    let (stages, scenarios) = (json!([{"duration": "1s", "target": 1}]), json!({}));
    for value in [
        json!({"iterations": 1, "stages": stages}),
        json!({"iterations": 1, "scenarios": scenarios}),
        json!({"duration": "1s", "stages": stages}),
        json!({"duration": "1s", "scenarios": scenarios}),
        json!({"stages": stages, "scenarios": scenarios}),
        json!({"iterations": 2, "vus": 3}),
        json!({"iterations": 0}),
        json!({"vus": 0, "duration": "1s"}),
        json!({"duration": "10ms"}),
        json!({"stages": [{"duration": "1s", "target": 0}], "vus": 0}),
    ] {
        let text = error(&value);
        assert!(text.starts_with("invalid option '"), "{value}: {text}");
    }
}

#[test]
fn a_higher_layer_replaces_the_whole_load() {
    let script = read(&json!({
        "scenarios": {"a": {"executor": "constant-vus", "duration": "5s"}}, "tags": {"a": "1"}, "userAgent": "x"
    }));
    let (none, flags) = (Options::default(), read(&json!({"duration": "2s", "tags": {"b": "2"}})));
    let found = layered(&none, &script, &none, &flags).expect("the options make sense");
    assert_eq!(found.scenarios[0].executor, Executor::ConstantVus { vus: 1, duration: seconds(2) });
    assert_eq!(found.warnings, [Warning("the command line replaces the scenarios of a lower layer".into())]);
    assert_eq!(found.options.tags.expect("tags are set").keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(found.options.user_agent.as_deref(), Some("x"));

    let (env, flags) = (read(&json!({"stages": [{"duration": "1s", "target": 2}]})), read(&json!({"iterations": 7})));
    let found = layered(&none, &none, &env, &flags).expect("a higher layer replaces the load");
    assert!(matches!(found.scenarios[0].executor, Executor::SharedIterations { iterations: 7, .. }));
    let config = read(&json!({"vus": 9}));
    let found = layered(&config, &read(&json!({"duration": "3s"})), &none, &none).expect("vus are separate");
    assert_eq!(found.scenarios[0].executor, Executor::ConstantVus { vus: 9, duration: seconds(3) });
}

#[test]
fn scenarios_are_strict() {
    for (scenario, option) in [
        (json!({}), "'scenarios.a.executor'"),
        (json!({"executor": "nope"}), "'scenarios.a.executor'"),
        (json!({"executor": "externally-controlled"}), "'scenarios.a.executor'"),
        (json!({"executor": "constant-vus"}), "'scenarios.a.duration'"),
        (json!({"executor": "constant-vus", "duration": "0.5s"}), "'scenarios.a.duration'"),
        (json!({"executor": "constant-vus", "duration": "5s", "rate": 1}), "'scenarios.a.rate'"),
        (json!({"executor": "constant-vus", "duration": "5s", "vus": 0}), "'scenarios.a.vus'"),
        (json!({"executor": "constant-vus", "duration": "5s", "env": {"A": 1}}), "'scenarios.a.env.A'"),
        (json!({"executor": "shared-iterations", "vus": 3, "iterations": 2}), "'scenarios.a.iterations'"),
        (json!({"executor": "per-vu-iterations", "maxDuration": "1ms"}), "'scenarios.a.maxDuration'"),
        (json!({"executor": "ramping-vus"}), "'scenarios.a.stages'"),
        (json!({"executor": "ramping-vus", "stages": []}), "'scenarios.a.stages'"),
        (json!({"executor": "constant-arrival-rate", "duration": "5s", "preAllocatedVUs": 1}), "'scenarios.a.rate'"),
        (json!({"executor": "constant-arrival-rate", "duration": "5s", "rate": 1}), "'scenarios.a.preAllocatedVUs'"),
        (
            json!({"executor": "constant-arrival-rate", "duration": "5s", "rate": 1, "preAllocatedVUs": 2, "maxVUs": 1}),
            "'scenarios.a.maxVUs'",
        ),
        (
            json!({"executor": "constant-arrival-rate", "duration": "5s", "rate": 1, "preAllocatedVUs": 1, "timeUnit": 0}),
            "'scenarios.a.timeUnit'",
        ),
    ] {
        let text = error(&json!({"scenarios": {"a": scenario}}));
        assert!(text.contains(option) && !text.contains('\n'), "{scenario}: {text}");
    }
    assert!(error(&json!({"scenarios": {"a b": {"executor": "shared-iterations"}}})).contains("'scenarios.a b'"));
}

#[test]
fn scenarios_have_defaults_and_are_sorted() {
    let options = read(&json!({"scenarios": {
        "b": {"executor": "ramping-arrival-rate", "preAllocatedVUs": "2", "stages": [{"duration": "1s", "target": 3}]},
        "a": {"executor": "per-vu-iterations", "exec": "f", "startTime": "5s", "gracefulStop": "0s",
              "env": {"X": "1"}, "tags": {"t": "u"}},
    }}));
    let found = only_script(&options).expect("the options make sense").scenarios;
    assert_eq!(found.iter().map(|scenario| scenario.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((found[0].function(), found[1].function()), ("f", "default"));
    assert_eq!((found[0].start_time, found[0].graceful_stop), (seconds(5), Duration::ZERO));
    assert_eq!(found[1].graceful_stop, seconds(30));
    let arrival = ArrivalRate { time_unit: seconds(1), pre_allocated_vus: 2, max_vus: 2 };
    let stages = vec![Stage { duration: seconds(1), target: 3 }];
    assert_eq!(found[1].executor, Executor::RampingArrivalRate { start_rate: 0, stages, arrival });
}

#[test]
fn scenarios_are_described_as_k6_does() {
    let described = |value: Value| {
        let scenarios = only_script(&read(&value)).expect("the options make sense").scenarios;
        scenarios[0].description()
    };
    let scenario = |value: Value| described(json!({"scenarios": {"a": value}}));
    for (found, expected) in [
        (described(json!({"vus": 10, "duration": "30s"})), "10 looping VUs for 30s (gracefulStop: 30s)"),
        (
            described(json!({"vus": 10, "iterations": 100})),
            "100 iterations shared among 10 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
        ),
        (
            described(json!({"stages": [{"duration": "10s", "target": 20}, {"duration": "50s", "target": 0}]})),
            "Up to 20 looping VUs for 1m0s over 2 stages (gracefulRampDown: 30s, gracefulStop: 30s)",
        ),
        (
            scenario(
                json!({"executor": "per-vu-iterations", "vus": 3, "iterations": 5, "exec": "f", "startTime": "1s"}),
            ),
            "5 iterations for each of 3 VUs (maxDuration: 10m0s, exec: f, startTime: 1s, gracefulStop: 30s)",
        ),
        (scenario(json!({"executor": "constant-vus", "duration": "5s", "gracefulStop": 0})), "1 looping VUs for 5s"),
        (
            scenario(json!({"executor": "constant-arrival-rate", "rate": 3, "timeUnit": "2s", "duration": "30s",
                "preAllocatedVUs": 10, "maxVUs": 50})),
            "1.50 iterations/s for 30s (maxVUs: 10-50, gracefulStop: 30s)",
        ),
        (
            scenario(json!({"executor": "ramping-arrival-rate", "startRate": 1, "preAllocatedVUs": 10,
                "stages": [{"duration": "30s", "target": 50}]})),
            "Up to 50.00 iterations/s for 30s over 1 stages (maxVUs: 10, gracefulStop: 30s)",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn scripts_see_consolidated_options() {
    let options = read(&json!({"vus": "2", "duration": 1500, "thresholds": {"checks": ["rate>0.9",
        {"threshold": "rate>0.5", "abortOnFail": true, "delayAbortEval": "10s"}]}}));
    let found = only_script(&options).expect("the options make sense").options;
    let set = Value::Object(found.set_fields());
    assert_eq!((&set["vus"], &set["duration"], &set["scenarios"]), (&json!(2), &json!("1.5s"), &json!({})));
    assert_eq!(set["summaryTrendStats"], json!(DEFAULT_TREND_STATS));
    assert_eq!(set.get("throw"), None);
    let all = found.to_json();
    assert_eq!((all.get("vus"), &all["throw"], &all["dns"]["ttl"]), (None, &Value::Null, &Value::Null));
    let abort = json!({"threshold": "rate>0.5", "abortOnFail": true, "delayAbortEval": "10s"});
    assert_eq!(all["thresholds"]["checks"], json!(["rate>0.9", abort]));
}
