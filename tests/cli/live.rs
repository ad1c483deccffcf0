//! `--live` in a real terminal: the screen, its keys, and the terminal as it was found afterwards.

use serde_json::Value;
use std::path::Path;
use torr_test_support::full_screen::FullScreen;
use torr_test_support::program::torr;
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::supervised::lives;
use torr_test_support::wait_until;

/// The smallest common terminal, and one that shows a whole report.
const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (100, 60);
/// Longer than any test takes: each ends its run itself.
const LONG: &str = "-d 120s";

fn result(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the result was written");
    serde_json::from_str(&text).expect("the result is JSON")
}

/// Returns what was done to a run, by its kinds.
fn done(result: &Value) -> Vec<&str> {
    let events = result["steering"].as_array().map(Vec::as_slice).unwrap_or_default();
    events.iter().filter_map(|event| event["what"].as_str()).collect()
}

#[test]
fn keys_steer_a_run_and_q_ends_it_as_its_thresholds_say() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("run.json");
    let arguments = format!("{} -r 50 -c 4 {LONG} --live --fail-if rps\\>1 --json {}", server.url(), json.display());
    let mut screen = FullScreen::torr(LARGE, "", &arguments);
    let shown = screen.wait_for("RUNNING");
    assert!(shown.contains(&server.url()) && shown.contains("open loop, 50.0 requests/s"), "{shown}");
    screen.press("+");
    screen.wait_for("now 55.0 requests/s");
    screen.press("m");
    screen.wait_for("mark 1");
    screen.press("?");
    screen.wait_for("mark this moment");
    screen.press("?");
    screen.wait_until("no help", |screen| !screen.contents().contains("mark this moment"));
    screen.press("p");
    screen.wait_for("PAUSED");
    screen.wait_for("Throughput: 0.00 requests/s");
    screen.press("p");
    screen.wait_until("running again", |screen| screen.contents().contains("RUNNING"));
    screen.wait_until("load", |screen| !screen.contents().contains("Throughput: 0.00"));
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(1), true), "the threshold fails it: {}", ended.text);
    assert!(ended.text.contains("verdict") && !ended.text.contains("interrupted"), "{}", ended.text);
    assert!(ended.text.contains("steering     rate set to 110% of the plan at "), "{}", ended.text);
    let result = result(&json);
    assert_eq!(done(&result), ["rate", "mark", "pause", "resume", "end"], "{result}");
    assert_eq!((&result["interrupted"], &result["plan"]["staged"]), (&false.into(), &true.into()), "{result}");
    assert!(result["plan"]["rate"].is_null(), "it was not one rate: {result}");
    assert!(result["steering"][0]["value"] == 1.1 && result["steering"][1]["value"].is_null(), "{result}");
    let sum = |field: &str| result[field].as_u64().expect("it is a count");
    assert_eq!(sum("asked"), sum("requests") + sum("unfinished"), "no request is lost by steering: {result}");
}

#[test]
fn the_screen_of_a_k6_script_has_its_console_and_q_lets_it_tear_down() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let (script, json) = (folder.path().join("shop.js"), folder.path().join("run.json"));
    let text = "import http from 'k6/http';\nimport { sleep } from 'k6';\n\
        export default function () { http.get(__ENV.BASE); console.log('from the script'); sleep(0.2); }\n\
        export function teardown() { http.get(__ENV.BASE + 'teardown'); }\n";
    std::fs::write(&script, text).expect("there is room");
    let arguments =
        format!("{} -c 2 {LONG} --live --variable BASE={} --json {}", script.display(), server.url(), json.display());
    let mut screen = FullScreen::torr(LARGE, "", &arguments);
    let shown = screen.wait_for("RUNNING");
    assert!(shown.contains("1 scenario, 2 max VUs"), "{shown}");
    screen.wait_for("from the script");
    screen.press("m");
    screen.wait_for("mark 1");
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(0), true), "{}", ended.text);
    assert!(ended.text.contains("verdict") && ended.text.contains("iterations"), "{}", ended.text);
    assert_eq!(done(&result(&json)), ["mark", "end"]);
    let last = server.texts().pop().expect("there are requests");
    assert!(last.starts_with("GET /teardown "), "{last}");
}

#[test]
fn connections_rise_and_fall_by_keys() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("run.json");
    let arguments = format!("{} -c 2 -t 1 {LONG} --live --json {}", server.url(), json.display());
    let mut screen = FullScreen::torr(LARGE, "", &arguments);
    screen.wait_for("2 open, 2 opened");
    screen.press("+++");
    screen.wait_for("5 open, 5 opened");
    screen.press("-");
    screen.wait_for("4 open");
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(0), true), "{}", ended.text);
    let result = result(&json);
    let values: Vec<_> = result["steering"].as_array().into_iter().flatten().map(|event| &event["value"]).collect();
    assert_eq!(values[..4], [&3.0.into(), &4.0.into(), &5.0.into(), &4.0.into()] as [&Value; 4], "{result}");
    assert_eq!((&result["connections"]["peak"], &result["plan"]["connections"]), (&5.into(), &2.into()), "{result}");
}

#[test]
fn ctrl_c_and_sigterm_restore_the_terminal_and_print_the_result() {
    let server = Script::start(answering(OK));
    for by_key in [true, false] {
        let mut screen = FullScreen::torr(LARGE, "", &format!("{} -r 50 -c 4 {LONG} --live", server.url()));
        let pid = screen.pid();
        screen.wait_for("RUNNING");
        if by_key {
            screen.press("\u{3}")
        } else {
            screen.signal(pid, "TERM")
        }
        let ended = screen.end();
        assert_eq!((ended.code, ended.is_restored), (Some(130), true), "{}", ended.text);
        assert!(ended.text.contains("interrupted") && ended.text.contains("throughput"), "{}", ended.text);
    }
}

#[test]
fn an_end_at_once_restores_the_terminal_as_well() {
    // The server is silent, and SIGQUIT ends the program at once, as a second Ctrl-C does.
    let server = Script::start(|client| while client.request().is_some() {});
    let screen = FullScreen::torr(LARGE, "", &format!("{} -c 1 {LONG} --live", server.url()));
    let pid = screen.pid();
    screen.wait_for("q end");
    screen.signal(pid, "QUIT");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(130), true), "{}", ended.text);
}

#[test]
fn the_log_has_the_address_of_a_dashboard_beside_it() {
    let server = Script::start(answering(OK));
    let mut screen = FullScreen::torr(LARGE, "", &format!("{} -r 50 -c 2 {LONG} --live --dashboard", server.url()));
    screen.wait_for("dashboard: http://127.0.0.1:");
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(0), true), "{}", ended.text);
}

#[test]
fn a_stopped_program_gives_the_terminal_back_and_takes_it_again() {
    let server = Script::start(answering(OK));
    let mut screen = FullScreen::torr(SMALL, "", &format!("{} -r 50 -c 4 {LONG} --live", server.url()));
    let pid = screen.pid();
    screen.wait_for("RUNNING");
    screen.signal(pid, "TSTP");
    screen.wait_until("the shell's screen", |screen| !screen.alternate_screen() && !screen.hide_cursor());
    screen.signal(pid, "CONT");
    screen.wait_until("the screen again", |screen| screen.alternate_screen() && screen.contents().contains("RUNNING"));
    screen.wait_for("the program was suspended");
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(0), true), "{}", ended.text);
}

#[test]
fn an_unreachable_server_leaves_a_line_on_a_restored_terminal() {
    let ended = FullScreen::torr(LARGE, "", &format!("http://127.0.0.1:1/ {LONG} --live")).end();
    assert_eq!(ended.code, Some(3), "{}", ended.text);
    assert!(ended.is_restored && ended.text.contains("cannot connect"), "{}", ended.text);
}

#[test]
fn a_hostile_server_sends_nothing_to_the_terminal() {
    let response = "\u{1b}[31mred\u{1b}]0;a title\u{7} 200 OK\r\nContent-Length: 0\r\n\r\n";
    let server = Script::start(answering(response.as_bytes()));
    let mut screen = FullScreen::torr(LARGE, "NO_COLOR=1", &format!("{} -r 50 -c 4 {LONG} --live", server.url()));
    screen.wait_for("first error: protocol");
    screen.wait_until("no title and no colour", |screen| {
        let cells = (0..LARGE.1).flat_map(|row| (0..LARGE.0).map(move |column| (row, column)));
        let mut colours = cells.filter_map(|(row, column)| screen.cell(row, column)).map(vt100::Cell::fgcolor);
        colours.all(|colour| colour == vt100::Color::Default)
    });
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(1), true), "none was answered: {}", ended.text);
}

#[test]
fn without_a_terminal_the_run_is_as_without_the_flag() {
    let server = Script::start(answering(OK));
    let ended = torr(&[&server.url(), "-n", "20", "-c", "2", "--live"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert!(!ended.stdout.contains('\u{1b}') && ended.stdout.contains("throughput"), "{ended:?}");
    let dumb = FullScreen::torr(LARGE, "TERM=dumb", &format!("{} -n 20 -c 2 --live", server.url())).end();
    assert!(dumb.code == Some(0) && dumb.text.contains("throughput"), "{dumb:?}");
    let refused = torr(&[&server.url(), "--live", "-q"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn a_run_ends_with_its_terminal() {
    let server = Script::start(answering(OK));
    let screen = FullScreen::torr(SMALL, "", &format!("{} -r 50 -c 2 {LONG} --live", server.url()));
    let pid = screen.pid();
    screen.wait_for("RUNNING");
    // The window is closed.
    drop(screen);
    wait_until("the run to end", || (!lives(pid)).then_some(()));
}

#[test]
fn the_screens_of_a_diagnosis_and_of_a_search_show_their_steps_and_q_ends_them() {
    let server = Script::start(answering(OK));
    for command in ["doctor", "limit"] {
        let arguments = format!("{command} {} --budget 60s --live", server.url());
        let mut screen = FullScreen::torr(SMALL, "", &arguments);
        let shown = screen.wait_for("of at most 60 s");
        assert!(shown.contains(&server.url()), "{shown}");
        screen.wait_for("throughput");
        screen.press("q");
        let ended = screen.end();
        assert_eq!((ended.code, ended.is_restored), (Some(130), true), "{command}: {}", ended.text);
    }
}

#[test]
fn what_a_lua_script_prints_is_on_the_screen() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("shop.lua");
    let text = "function request() print('from', 'the script') return wrk.format() end\n";
    std::fs::write(&script, text).expect("there is room");
    let arguments = format!("{} --script {} -r 20 -c 1 {LONG} --live", server.url(), script.display());
    let mut screen = FullScreen::torr(LARGE, "", &arguments);
    screen.wait_for("Printed: ");
    screen.wait_for("the script");
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(0), true), "{}", ended.text);
}
