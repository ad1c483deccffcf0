//! Pages of made-up results, read by the HTML parser of a browser.

#[path = "page/reader.rs"]
mod reader;

use reader::Page;
use serde_json::{Value, json};
use torr_page::{Document, page};

/// What ends a text, an attribute or an element, if it is not escaped.
const HOSTILE: &str =
    "\"'><script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)></title></style>{}`\u{202e}";

fn run() -> Value {
    let point = |t: u32| {
        json!({"t": t, "requests": 1000 + t % 7, "errors": t % 50 / 49, "p50": 800, "p99": 20_000 + t,
            "latency_histogram": "630:500 800:480 16000:20", "generator_cores": 0.5, "server_cores": 1.5, "cpu_share": 0.9})
    };
    json!({
        "schema": "torr.run/1", "torr": "0.1.0", "target": "http://h/", "started_at": "2026-11-23T08:00:00Z",
        "plan": {"connections": 8, "threads": 2, "rate": 1000, "duration_s": 10, "keep_alive": true, "method": "GET"},
        "requests": 10_000, "rps": 1000.0, "duration_s": 10.0, "status": {"200": 9_990, "503": 10},
        "errors": {"connect": 0, "timeout": 2, "status": 10},
        "causes": [{"kind": "timeout", "side": "server", "what": "no response", "count": 2}],
        "failed_response": {"status_line": "HTTP/1.1 503 No", "fields": [{"name": "X", "value": "y"}], "content": "no"},
        "latency_us": {"min": 100, "mean": 900, "p50": 800, "p90": 900, "p99": 20_000, "max": 300_000},
        "latency_histogram": "100:10 800:9000 900:880 20000:100 300000:10",
        "phases_us": {"connect": {"min": 60, "mean": 70, "max": 90}, "tls": null, "first_byte": {"mean": 850, "p50": 790}},
        "series": (1..=10).map(point).collect::<Vec<_>>(),
        "steering": [{"t": 2.5, "what": "mark"}, {"t": 3.0, "what": "rate", "value": 1.1}, {"t": 9, "what": "end"}],
        "entries": [{"name": "login", "requests": 5, "failed": 1, "latency_us": {"p50": 5, "p99": 9}}],
        "fleet": {"agents": [
            {"name": "one", "state": "ended", "rps": 5.0, "requests": 5, "errors": 0, "busy_share": 0.5, "began_us": 90},
            {"name": "two", "state": "lost", "share": 0.45, "rps": 5.0, "errors": 3, "busy_share": 0.97, "was_limit": true,
                "send_lag_p99_us": 9200, "began_us": -120},
        ]},
        "checks": [{"name": "status is 200", "passed": 5, "failed": 1}],
        "thresholds": [{"rule": "p99>50ms", "measured": "20 ms", "failed": false}],
        "validity": {"ok": false, "findings": [{"what": "steal", "ok": false, "note": "stolen", "advice": "again"}]},
        "verdict": {"factor": "cpu", "confidence": "likely", "summary": "The CPU is full.", "because": ["a reason"],
            "advice": ["more"], "verify": "torr http://h/", "gain": {"summary": "twice"}},
    })
}

/// A run of streams that last for longer than it: 90 of 100 are open at its end.
fn streams() -> Value {
    let mut run = run();
    run["requests"] = json!(7);
    run["unfinished"] = json!(91);
    run["streams"] = json!({
        "events": 43_210, "events_per_s": 4321.0, "begun": 97, "open": 90, "limited": 5, "silent": 1,
        "longest_silence_us": 456_000, "length_us": null,
        "first_event_us": {"min": 900, "mean": 1000, "p50": 1234, "max": 9000}, "first_event_histogram": "1200:90 9000:10",
        "gap_us": {"min": 0, "mean": 900, "p50": 20_100, "p99": 33_000, "max": 40_000}, "gap_histogram": "20000:900 33000:10",
    });
    for point in run["series"].as_array_mut().expect("it is a list") {
        point["events"] = json!(4321);
    }
    run
}

fn doctor() -> Value {
    json!({
        "schema": "torr.doctor/1", "torr": "0.1.0", "target": "http://h/", "seconds": 22.0, "remarks": ["a remark"],
        "setting": {"connections": 8}, "verdict": run()["verdict"],
        "figures": {"ladder": [{"connections": 1, "rps": 100.0, "median_s": 0.01}, {"connections": 2, "rps": 190.0}]},
        "trail": [
            {"experiment": "a pause"},
            {"experiment": "one request at a time", "why": "the floor", "decided": true, "run": run()},
        ],
    })
}

fn limit() -> Value {
    let rung = |n: u32| json!({"connections": n, "good_per_s": 100 * n, "latency_us": {"p50": 900, "p99": 1000}});
    json!({
        "schema": "torr.limit/1", "torr": "0.1.0", "target": "http://h/", "spent_s": 50.0, "slo": ["p99<50ms"],
        "summary": "It sustains 400 requests/s.", "sustained": {"rate": 400.0, "latency_us": {"p50": 900, "p99": 1000}},
        "fails_at": 440.0, "verdict": run()["verdict"], "knee": 3.0, "connections": {"recommended": 5},
        "fit": {"good": true, "lambda": 100.0, "sigma": 0.001, "kappa": 0.0001},
        "ladder": [rung(1), rung(2), rung(4)], "disturbance": {"most": {"others": 0.9}},
        "steps": [
            {"load": {"rate": 400.0}, "good_per_s": 400.0, "kept": true, "why": "first", "error_share": 0,
                "latency_us": {"p50": 900, "p99": 1000}},
            {"load": {"rate": 440.0}, "good_per_s": 400.0, "kept": false, "failure": "p99 was 80ms", "error_share": 0.1,
                "latency_us": {"p50": 900, "p99": 80_000}},
        ],
    })
}

/// A search for the most streams at a time.
fn limit_of_streams() -> Value {
    let step = |streams: u32, p99: u32, kept: bool| {
        json!({"load": {"streams": streams}, "kept": kept, "error_share": 0,
            "streams": {"at_a_time": streams, "events_per_s": streams * 50, "gap_us": {"p50": 20_000, "p99": p99}}})
    };
    let mut value = limit();
    value["unit"] = "streams".into();
    value["slo"] = json!(["first_event_p99<777ms", "gap_p99<30ms"]);
    value["sustained"] =
        json!({"streams": {"at_a_time": 6, "events_per_s": 300.0, "gap_us": {"p50": 20_000, "p99": 21_000}}});
    value["fails_at"] = json!(7);
    value["steps"] =
        json!([step(1, 20_500, true), step(6, 21_000, true), step(7, 45_000, false), step(8, 60_000, false)]);
    value["ladder"] = json!([]);
    value
}

fn versions() -> Value {
    let finding = |metric: &str, outcome: &str| {
        json!({"metric": metric, "pairs": 9, "a": 10.0, "b": 11.0, "ratio": 1.1, "interval": [1.08, 1.12], "p": 0.001,
            "margin": 0.02, "outcome": outcome})
    };
    json!({
        "schema": "torr.versions/1", "torr": "0.1.0", "a": "http://a/", "b": "http://b/", "started_at": "now",
        "seed": 7, "seconds": 60.0, "connections": 64, "rate": 1000.0, "interrupted": false, "blocks": [{}, {}],
        "means": {"a": 900.0, "b": 1200.0, "ratio": 1.333, "interval": [1.2, 1.4]},
        "findings": [finding("cpu", "different"), finding("p99", "cannot_tell"), finding("throughput", "same")],
        "rules": [{"rule": "cpu>+2%", "outcome": "failed", "because": "it is more"}],
        "reasons": {"steal": 2}, "notes": ["a note"],
    })
}

fn demo() -> Value {
    let row = |name: &str, path: &str, keep_alive: bool| {
        json!({"name": name, "path": path, "connections": 100, "keep_alive": keep_alive, "run": run(),
            "references": [{"system": "webman", "least": 1000, "most": 2000}, {"system": "nginx", "least": 5, "most": 5}]})
    };
    json!({
        "schema": "torr.demo/1", "torr": "0.1.0", "machine": {"cpu": "a CPU", "cores": 2}, "workers": 2,
        "database": "embedded SQLite", "verdict": run()["verdict"],
        "rows": [row("kept", "/", true), row("not kept", "/", false), row("raw", "/db/raw", true)],
    })
}

fn document(value: Value) -> Document {
    Document::new("a.json", value).unwrap_or_else(|error| panic!("{error}"))
}

fn read(values: Vec<Value>) -> Page {
    Page::read(&page(&values.into_iter().map(document).collect::<Vec<_>>()))
}

/// Replaces all texts of a result, its schema and the root's path excepted, by a hostile one; the names of statuses as well.
fn lab() -> Value {
    let measured = |rps: f64, limit: &str| {
        json!({"measured": {"rps": rps, "least_rps": rps - 100.0, "most_rps": rps + 100.0, "p99_us": 900.0, "cpu_us": 8.5,
            "rounds": 3, "limit": limit, "invalid": [], "failed": null}})
    };
    json!({
        "schema": "torr.lab-table/1",
        "header": {"schema": "torr.lab/1", "torr": "0.1.0", "suite": "mine", "about": "a suite", "started_at": "2026-11-23T08:00:00Z",
            "machine": {"cores": 2, "kernel": "Linux 6"}, "rounds": 3, "scale": 0.1, "seed": 7},
        "table": {
            "subjects": ["one", "two", "three", "four"], "references": ["Elsewhere"],
            "lines": [
                {"level": "hello, c 10", "references": ["1,000"],
                    "cells": [measured(5_000.0, "server-cpu"), measured(9_000.0, "generator"), "absent", {"failed": "a check"}]},
                {"level": "other", "references": [""], "cells": ["not_offered", "missing", "absent", {"failed": "a check"}]},
            ],
            "absent": {"three": "no program"}, "versions": {"one": "1.2.3", "two": "4"},
        },
    })
}

fn history() -> Value {
    let build =
        |day: u32| json!({"run": format!("{day:02}.json"), "started_at": format!("2026-11-{day:02}T00:00:00.000Z")});
    json!({
        "schema": "torr.history/1", "torr": "0.1.0", "target": "http://h/", "runs": 7, "left_out": 1, "seed": 1,
        "changes": [{"metric": "throughput", "run": "04.json", "started_at": "2026-11-04T00:00:00.000Z", "after": "03.json",
            "before": 100.0, "since": 80.0, "ratio": 0.8, "p": 0.001}],
        "beside": [{"run": "04.json", "after": "03.json", "what": "machine.kernel", "before": "Linux 6", "since": "Linux 7"}],
        "builds": (1..=6).map(build).collect::<Vec<_>>(),
        "rows": [{"metric": "throughput", "values": [100.0, null, 101.0, 80.0, 81.0, 79.0],
            "levels": [{"from": 0, "to": 2, "runs": 2, "median": 100.5, "low": 100.0, "high": 101.0},
                {"from": 3, "to": 5, "runs": 3, "median": 80.0, "low": 79.0, "high": 81.0}]}],
    })
}

fn make_hostile(value: &mut Value) {
    match value {
        Value::String(text) if !text.starts_with("torr.") && !text.contains(':') && text != "/" => {
            HOSTILE.clone_into(text)
        }
        Value::String(text) if text.starts_with("http") => *text += HOSTILE,
        Value::Array(elements) => elements.iter_mut().for_each(make_hostile),
        Value::Object(fields) => {
            fields.values_mut().for_each(make_hostile);
            if let Some(responses) = fields.remove("503") {
                fields.insert(HOSTILE.into(), responses);
            }
        }
        _ => {}
    }
}

#[test]
fn a_page_of_each_kind_has_its_sections_and_loads_nothing() {
    for (value, headings) in [
        (run(), &["Thresholds", "Checks", "Over time", "Distribution", "Phases", "Entries", "Agents", "Errors"][..]),
        (streams(), &["Thresholds", "Checks", "Over time", "Streams", "Phases", "Entries", "Agents", "Errors"]),
        (doctor(), &["By connections", "Experiments"]),
        (limit(), &["By rate", "By connections", "Steps of the search"]),
        (limit_of_streams(), &["By streams", "Steps of the search"]),
        (versions(), &["Thresholds", "A and B"]),
        (demo(), &["A page with one line of text", "A row of 100,000 from the database"]),
        (lab(), &["Responses per second", "hello, c 10", "Not measured", "Versions"]),
        (history(), &["Changes", "Beside the code", "Metrics"]),
    ] {
        let page = read(vec![value]);
        page.loads_nothing();
        let last = ["How to repeat it"];
        assert_eq!(page.texts_of("h2"), [headings, &last].concat());
        assert!(page.count("svg") > 0 && page.count("table") > 0);
        for plot in
            page.attributes("svg").filter(|svg| svg.iter().any(|(name, value)| name == "class" && value == "plot"))
        {
            let has = |wanted: &str| plot.iter().any(|(name, value)| name == wanted && !value.is_empty());
            assert!(has("role") && has("aria-label"), "{plot:?}");
        }
    }
}

#[test]
fn hostile_texts_do_nothing_in_any_page() {
    for clean in [run(), streams(), doctor(), limit(), versions(), demo(), lab(), history()] {
        let mut hostile = clean.clone();
        make_hostile(&mut hostile);
        assert!(hostile.to_string().matches("alert(1)").count() > 5, "{hostile}");
        let (clean, hostile) = (read(vec![clean.clone(), clean]), read(vec![hostile.clone(), hostile]));
        hostile.loads_nothing();
        // Texts change no element: only the first page may have elements that depend on a text's kind.
        for element in ["script", "img", "style", "title", "svg", "table", "tr", "details", "a", "iframe"] {
            assert_eq!(hostile.count(element), clean.count(element), "{element}");
        }
        assert!(hostile.text().contains("<script>alert(1)</script>"), "the text is shown as it is");
    }
}

#[test]
fn figures_are_those_of_the_json() {
    let text = read(vec![run()]).text();
    for figure in ["The CPU is full.", "a reason", "10,000", "800 us", "20.0 ms", "300 ms", "torr http://h/ -c 8"] {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    for figure in ["CPUs, server", "1.50", "90%", "mark 1", "rate set to 110% of the plan", "ended by the operator"] {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    assert!(text.contains("until 10 s") && text.contains("480"), "the map has its table: {text}");
    for figure in ["45%", "9.20 ms", "+90 us", "-120 us", "lost, was itself the limit"] {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    let text = read(vec![versions()]).text();
    assert!(text.contains("Mean response time") && text.contains("+33.3%, not tested"), "{text}");
    let change = "CPU time per response of B, compared with A: +8.0% to +12.0%";
    for figure in [change, "the same within 2", "cannot tell: +8.0%", "10 us", "it is more", "a note", "--seed 7"] {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    let text = read(vec![lab()]).text();
    let rows = [
        "one5,0004,900 to 5,100-44%",
        "two9,0008,900 to 9,100–",
        "medians of 3 runs in turns, 0.1 of the suite's time",
    ];
    for figure in
        rows.into_iter().chain(["generator", "three is not available: no program", "four failed: a check", "--seed 7"])
    {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    assert!(text.find("two9,000") < text.find("one5,000"), "the fastest comes first");
    let text = read(vec![demo()]).text();
    for figure in ["webman 1,000 to 2,000", "nginx 5", "not kept", "embedded SQLite", "The CPU is full."] {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    let text = read(vec![doctor()]).text();
    let (decided, others) = (text.find("one request at a time"), text.find("1 other experiment"));
    assert!(decided.is_some() && decided < others && others < text.find("a pause"), "what decided is first: {text}");
    let text = read(vec![limit()]).text();
    assert!(text.contains("It sustains 400 requests/s.") && text.contains("p99 was 80ms"), "{text}");
    assert!(text.contains("limit 400/s") && text.contains("50 ms"), "the limit and the objective are marked: {text}");
    let text = read(vec![limit_of_streams()]).text();
    // An objective of another time than the plot's has no line.
    assert!(text.contains("limit 6 streams") && text.contains("30 ms") && !text.contains("777 ms"), "{text}");
}

#[test]
fn streams_are_shown_by_their_events() {
    let page = read(vec![streams()]);
    let text = page.text();
    for figure in ["4,321", "1.23 ms", "20.1 ms", "33.0 ms", "456 ms", "events/s", "gap between events"] {
        assert!(text.contains(figure), "{figure} is not in {text}");
    }
    let ends = [
        "open when the run ended90",
        "ended by the server2",
        "ended by this client as planned5",
        "no event within the idle time-out1",
        "failed for other reasons1",
        "without an event when the run ended1",
    ];
    for end in ends {
        assert!(text.contains(end), "{end} is not in {text}");
    }
    // The lengths of streams are by design: no figure, plot or map shows them as response times.
    assert!(!text.contains("esponse time") && !text.contains("complete response"), "{text}");
    assert!(text.contains("Gaps between events"), "the map: {text}");
}

#[test]
fn a_run_over_http3_has_its_version_and_datagrams() {
    let mut value = run();
    value["plan"]["protocol"] = "h3".into();
    value["datagrams"] = json!({"sent": 2000, "received": 3000, "per_send": 4.0, "per_receive": 1.5, "packets": 2010, "lost_packets": 201});
    let page = read(vec![value]);
    let words =
        "2,000 sent (4.0 per system call), 3,000 received (1.5 per system call), 201 of 2,010 packets lost (10%).";
    assert!(page.texts_of("p").iter().any(|text| text == words), "{}", page.text());
    assert!(page.text().contains(", HTTP/3, ") && page.texts_of("h2").contains(&"Datagrams".into()));
    assert!(!read(vec![run()]).text().contains("Datagrams"));
}

#[test]
fn figures_over_time_have_the_time_of_day() {
    let mut value = run();
    value["plan"]["warmup_s"] = json!(5.0);
    let text = read(vec![value.clone()]).text();
    assert!(
        text.contains("untilUTC") && text.contains("10 s08:00:15"),
        "the first interval begins after the warm-up: {text}"
    );
    value["started_at"] = "now".into();
    assert!(!read(vec![value]).text().contains("UTC"));
}

#[test]
fn websockets_have_their_counts_and_handshakes() {
    let mut value = run();
    value["websocket"] = json!({
        "handshake_us": {"min": 1000, "mean": 2200.0, "p50": 2100, "max": 9000}, "pushed": 4711, "pings": 3, "compressed": 7,
        "closed": {"1001": 12, "1006": 5, "<b>": 1},
    });
    let text = read(vec![value.clone()]).text();
    for part in [
        "WebSocket handshake2.20 ms",
        "messages that the server pushed4,711",
        "pings of the server3",
        "connections with compressed messages7",
        "connections closed by the server with code 100112",
        "connections closed by the server without a close frame5",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // Of a client that listens all messages are events.
    let mut listening = streams();
    listening["websocket"] = value["websocket"].clone();
    let text = read(vec![listening]).text();
    assert!(text.contains("pings of the server3") && !text.contains("messages that the server pushed"), "{text}");
}

/// Returns a run whose plan has these fields beside those of every plan.
fn planned(fields: Value) -> Value {
    let mut run = run();
    let mut plan = json!({"connections": 8, "threads": 2, "keep_alive": true, "method": "GET", "timeout_s": 10.0});
    plan.as_object_mut().expect("it is one").extend(fields.as_object().expect("it is one").clone());
    run["plan"] = plan;
    run
}

#[test]
fn the_command_has_all_of_the_plan() {
    for (fields, command) in [
        (json!({"max_rate": 500.0, "requests": 90, "duration_s": 1.5}), "-c 8 -t 2 --max-rate 500 -n 90 -d 1.5"),
        (json!({"think_s": [0.05, 2.0], "duration_s": 3}), "-c 8 -t 2 -d 3s --think 0.05..2s"),
        (json!({"think_s": [0.05, 0.05], "timeout_s": 2.5}), "-c 8 -t 2 --timeout 2.5 --think 0.05"),
        (json!({"rate": 20.5, "arrivals": "constant", "coalesce_s": 0.00015}), "-c 8 -t 2 -r 20.5"),
        (json!({"rate": 20, "arrivals": "constant", "coalesce_s": 0.00004}), "-c 8 -t 2 -r 20 --coalesce 40us"),
        (json!({"rate": 20, "arrivals": "constant"}), "-c 8 -t 2 -r 20 --coalesce 0"),
        (json!({"rate": 20, "arrivals": "poisson", "warmup_s": 1}), "-c 8 -t 2 -r 20 --warmup 1s --arrivals poisson"),
        (json!({"depth": 4, "protocol": "http/1.1"}), "-c 8 -t 2 --pipeline 4"),
        (json!({"depth": 4, "protocol": "h2"}), "-c 8 -t 2 --streams 4 --http2-prior-knowledge"),
        (json!({"requests_per_connection": 7, "method": "PUT"}), "-c 8 -t 2 --requests-per-connection 7 -X PUT"),
        (json!({"keep_alive": false, "method": "A'B"}), "-c 8 -t 2 -X \"A'B\" --no-keepalive"),
    ] {
        let page = read(vec![planned(fields.clone())]);
        let texts = page.texts_of("pre");
        assert!(texts.contains(&format!("torr http://h/ {command}")), "{fields}: {texts:?}");
    }
    let mut secure = planned(json!({"protocol": "h2", "depth": 1}));
    secure["target"] = "https://h/?a=1&b='2'".into();
    let texts = read(vec![secure]).texts_of("pre");
    assert!(texts.contains(&"torr \"https://h/?a=1&b='2'\" -c 8 -t 2 --http2".to_owned()), "{texts:?}");
}

#[test]
fn a_load_that_the_result_does_not_tell_has_no_command() {
    let mut stages = planned(json!({"staged": true, "arrivals": "constant"}));
    let mut steered = stages.clone();
    stages["steering"] = json!([{"t": 1, "what": "mark"}]);
    steered["steering"] = json!([{"t": 1, "what": "pause"}]);
    let mut sessions = planned(json!({"rate": 20.0, "method": "GET,POST"}));
    sessions["sessions"] = json!({"users": 1, "finished": 5});
    let mut diagnosis = doctor();
    diagnosis["trail"][0]["run"] = sessions.clone();
    for (value, why) in [
        (stages, "the result does not contain the stages"),
        (steered, "an operator changed the load"),
        (sessions.clone(), "the result does not contain the files of the sessions"),
        (diagnosis, "the result does not contain the files of the sessions"),
    ] {
        let page = read(vec![value]);
        assert!(page.text().contains(&format!("No command is shown: {why}")), "{}", page.text());
        assert!(page.texts_of("pre").iter().all(|text| !text.contains(" -c ")), "{:?}", page.texts_of("pre"));
    }
    let text = read(vec![sessions]).text();
    assert!(text.contains("open loop, 20.0 sessions/s due, 1 user, "), "{text}");
    let text = read(vec![planned(json!({"max_rate": 20, "connections": 1}))]).text();
    assert!(text.contains("at most 20.0 requests/s, 1 connection, "), "{text}");
}

#[test]
fn a_lost_agent_stands_above_all_figures() {
    let mut cut = run();
    cut["fleet"]["cut"] = json!({"at_s": 2.0, "requests_after": 5, "errors_after": 0});
    cut["fleet"]["agents"][1]["note"] = "killed".into();
    let page = read(vec![cut.clone()]);
    let text = page.text();
    let position = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is not in {text}"));
    let lost = position("agent two was lost: killed");
    let cautions = page.texts_of("p");
    assert!(cautions.iter().any(|caution| caution == "agent two was lost: killed"), "{cautions:?}");
    assert!(
        lost < position("The CPU is full.") && position("the figures cover the first 2.00 s") < position("10,000"),
        "{text}"
    );
    // No agent has reported the generator's use of CPU if all agents are lost.
    cut["generator"] = json!({"cpu_us_per_request": 0.0});
    assert!(read(vec![cut.clone()]).text().contains("CPU per request, generator"));
    cut["generator"] = json!({"saturated": false});
    for agent in cut["fleet"]["agents"].as_array_mut().expect("it is a list") {
        agent["state"] = "lost".into();
        agent.as_object_mut().expect("it is one").remove("busy_share");
    }
    let text = read(vec![cut]).text();
    assert!(!text.contains("CPU per request, generator"), "{text}");
    let (_, agents) =
        text.split_once("began busy").or_else(|| text.split_once("beganbusy")).expect("agents have a table");
    let (agents, _) = agents.split_once("Errors").expect("errors stand behind it");
    assert!(!agents.contains("50%") && !agents.contains("97%") && !agents.contains("us0%"), "{agents}");
}

#[test]
fn a_run_of_an_hour_stays_small_and_keeps_its_extremes() {
    let mut hour = run();
    // Thirty steps of three decades, with counts that change from second to second, are as much as a run has.
    let steps = (0..30).map(|step: i32| (100.0 * 10f64.powf(f64::from(step) / 10.0)).round() as u64);
    let steps: Vec<_> = steps.enumerate().collect();
    let spread = |t: u32| {
        let count =
            |step: usize| (t as usize * 31 + step * 17) % 400 * usize::from(!(t as usize + step).is_multiple_of(3));
        steps.iter().map(|(step, us)| format!("{us}:{}", count(*step))).collect::<Vec<_>>().join(" ")
    };
    let point = |t: u32| {
        json!({"t": t, "requests": 1000, "errors": 0, "p50": 800, "p99": if t == 2000 { 4_000_000 } else { 20_000 },
        "generator_cores": 0.5, "server_cores": 1.5 + f64::from(t % 9) / 10.0, "cpu_share": 0.9, "latency_histogram": spread(t),
        "stolen_share": f64::from(t % 5) / 100.0, "connections": 50 + t % 50, "send_lag_max_us": 100 + t * 37 % 900})
    };
    hour["series"] = (1..=1024).map(|n| point(n * 3600 / 1024)).chain([point(2000)]).collect();
    for (t, point) in hour["series"].as_array_mut().expect("it is a list").iter_mut().enumerate() {
        let kinds = ["timeout", "status", "read", "connect"].map(|kind| (kind.to_owned(), json!((t * kind.len()) % 9)));
        point["errors"] = kinds.iter().filter_map(|(_, count)| count.as_u64()).sum::<u64>().into();
        point["errors_by_kind"] = kinds.into_iter().collect::<serde_json::Map<_, _>>().into();
    }
    hour["series"].as_array_mut().expect("it is a list").sort_by_key(|point| point["t"].as_u64());
    let words = (1..4000).map(|us| format!("{}:{}", us * 37, 1 + us % 9)).collect::<Vec<_>>();
    hour["latency_histogram"] = words.join(" ").into();
    let text = page(&[document(hour)]);
    assert!(text.len() < 300_000, "{} bytes", text.len());
    let page = Page::read(&text);
    assert!(page.text().contains("60:00"), "the axis ends after an hour");
    // The peak of one second is the topmost point of the percentile's line: y is near 0 there.
    let paths = page.attributes("path").filter(|path| path.iter().any(|(_, value)| value == "line b"));
    let drawn: String = paths.flatten().filter(|(name, _)| name == "d").map(|(_, d)| d.as_str()).collect();
    let heights = drawn.split(['M', 'L']).filter_map(|point| point.split(' ').nth(1)?.parse::<f64>().ok());
    assert!(heights.fold(f64::INFINITY, f64::min) < 10.0, "{drawn}");
}

#[test]
fn what_a_result_lacks_is_left_out() {
    let bare = |schema: &str, rest: Value| {
        let mut bare = json!({"schema": schema, "target": "http://h/"});
        bare.as_object_mut().expect("it is one").extend(rest.as_object().expect("it is one").clone());
        bare
    };
    for value in [
        bare("torr.run/1", json!({"requests": 0, "rps": 0, "duration_s": 0, "series": [{"t": 0}, {}, 5, null]})),
        bare("torr.doctor/1", json!({"seconds": 0, "trail": [{}, 5]})),
        bare("torr.versions/1", json!({"a": "", "b": "", "seconds": 0, "findings": [{}, 5, {"metric": "x", "a": 0}]})),
        bare("torr.demo/1", json!({"database": "", "rows": [{}, 5, {"path": "/", "run": {}}]})),
        bare(
            "torr.history/1",
            json!({"runs": 6, "changes": [{}, 5, {"ratio": 1e308}], "builds": [{}, 5],
            "rows": [{}, 5, {"values": [1e308, -1e308, 0, "x"], "levels": [{}, {"from": 9e9, "to": -1, "median": 1e308}]}]}),
        ),
        bare("torr.limit/1", json!({"spent_s": 0, "ladder": [{}, {"connections": 0, "good_per_s": 1}], "steps": [{}]})),
    ] {
        let text = page(&[document(value)]);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        Page::read(&text).loads_nothing();
    }
}

#[test]
fn foreign_files_are_refused_in_a_line() {
    for (text, wanted) in [
        ("", "x is not JSON"),
        ("[1]", "x is not a result of torr"),
        ("{\"schema\": \"other/1\"}", "x is not a result of torr"),
        ("{\"schema\": \"torr.compare/1\"}", "x has the schema torr.compare/1"),
        ("{\"schema\": \"torr.history/1\", \"target\": \"t\", \"runs\": 6, \"changes\": []}", "'builds'"),
        ("{\"schema\": \"torr.run/1\"}", "'target'"),
        ("{\"schema\": \"torr.run/1\", \"target\": \"t\", \"requests\": \"5\"}", "'requests'"),
        ("{\"schema\": \"torr.limit/1\", \"target\": \"t\", \"spent_s\": 1, \"ladder\": []}", "'steps'"),
    ] {
        let error = Document::parse("x", text).expect_err(text).to_string();
        assert!(error.contains(wanted) && error.lines().count() == 1, "{text}: {error}");
    }
}
