//! The screen of runs that are made up, in two sizes of terminals.

use super::{draw, draw_procedure};
use crate::log::Tone;
use crate::procedure::tests::about;
use crate::procedure::{self, Procedure};
use crate::theme::Theme;
use crate::view::{Load, View};
use crate::wish::Wish;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use ratatui::{Frame, Terminal};
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::collector::{Collector, Progress, RunFacts};
use torr_gauge::steering::{SteeringEvent, SteeringKind};
use torr_gauge::{Confidence, CpuUse, Factor, Failure, FailureKind, FailureSide, RunResult, Sample, Verdict};
use torr_press::{Steerable, SteeringState};

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];

fn load(steerable: Steerable) -> Load {
    Load {
        target: "http://127.0.0.1:8080/".into(),
        words: "closed loop, 10 connections, 2 threads".into(),
        length_s: Some(30.0),
        warmup_s: 0.0,
        stages: Vec::new(),
        unit: "requests",
        steerable,
    }
}

fn view() -> View {
    let steered = SteeringState { paused: false, rate: 1.0, connections: 10 };
    View::new(load(Steerable::Connections { planned: 10, least: 2, most: 40 }), steered)
}

/// Returns what a run of so many seconds hands over at its end, with a failure each second if `cause` names one.
fn seconds(seconds: u64, cause: Option<&str>) -> (Progress, RunResult) {
    let mut collector = Collector::new(1, Duration::from_secs(1));
    let mut last = None;
    for interval in 0..seconds {
        let mut sample = Sample { opened: 10, open: 10, idle: 400_000_000, ..Sample::default() };
        (0..10_000u64).for_each(|n| sample.answered.record((1000 + n % 1000) * 1000));
        (0..10_000).for_each(|_| sample.status.count(200));
        if let Some(cause) = cause {
            sample.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, cause.to_owned()));
            let class = torr_gauge::error_times::ErrorClass::Kind(FailureKind::Read);
            sample.error_times.record(class, interval * 1_000_000_000);
        }
        let server = Some(torr_gauge::cpu_use::ServerCpu { server_s: 1.5, share_s: 0.9, stolen_s: 0.0 });
        collector.cpu(interval, CpuUse { seconds: 1.0, generator_s: 0.5, server });
        last = collector.take(0, interval, &sample, false);
    }
    let facts = RunFacts { duration: Duration::from_secs(seconds), ..RunFacts::default() };
    let mut result = collector.so_far(&facts);
    result.recount_started();
    let verdict = Verdict::new(Factor::ServerCpu, Confidence::Likely, "The server uses all of its CPU time.");
    let (because, advice) = (vec!["the server used 1.90 of 2 CPUs".into()], vec!["give it more CPUs".into()]);
    result.verdict = Some(Verdict { because, advice, ..verdict });
    (last.expect("an interval is complete"), result)
}

/// Returns what a run of streams hands over after three seconds: 500 events a second, 20 ms apart.
fn streams() -> (Progress, RunResult) {
    let mut collector = Collector::new(1, Duration::from_secs(1));
    let mut last = None;
    for interval in 0..3 {
        let mut sample = Sample { open: 10, idle: 900_000_000, ..Sample::default() };
        let streams = sample.streams.get_or_insert_default();
        streams.events = 500;
        streams.gaps.record_many(20_000, 500);
        last = collector.take(0, interval, &sample, false);
    }
    let result = collector.so_far(&RunFacts { duration: Duration::from_secs(3), ..RunFacts::default() });
    (last.expect("an interval is complete"), result)
}

#[test]
fn streams_are_shown_by_their_events() {
    let mut view = view();
    let (progress, result) = streams();
    view.update(progress, Arc::new(result));
    shows(&view, &["500 events/s", "Gap between events: p99 20.0 ms", "event gap"]);
    for size in SIZES {
        assert!(!screen(&view, size).iter().any(|line| line.contains("esponse time")), "{size:?}");
    }
}

fn screen(view: &View, size: (u16, u16)) -> Vec<String> {
    screen_of(|frame| draw(frame, view, &Theme::colours()), size)
}

fn screen_of(draw: impl FnOnce(&mut Frame<'_>), (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal of memory");
    terminal.draw(draw).expect("memory takes all");
    let buffer = terminal.backend().buffer();
    let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(row).collect()
}

/// Demands that the screen shows all of these texts, in both sizes.
fn shows(view: &View, texts: &[&str]) {
    for size in SIZES {
        let lines = screen(view, size);
        for text in texts {
            assert!(lines.iter().any(|line| line.contains(text)), "{text} at {size:?}:\n{}", lines.join("\n"));
        }
    }
}

#[test]
fn a_run_that_starts_has_its_load_and_its_keys() {
    let texts =
        ["http://127.0.0.1:8080/", "closed loop, 10 connections", "0 s of 30 s", "STARTING", "too early to tell"];
    shows(&view(), &texts);
    shows(&view(), &["the run begins", "q end", "p pause", "+ - connections", "m mark", "? help"]);
}

#[test]
fn a_running_one_shows_both_sides_and_a_suspicion() {
    let mut view = view();
    let (progress, result) = seconds(5, None);
    view.update(progress, Arc::new(result));
    view.at(5.2);
    shows(&view, &["5 s of 30 s", "RUNNING", "Throughput: 10,000 requests/s", "Response time: p99 1.99 ms"]);
    shows(&view, &["last second", "whole run", "none", "10 open, 50 opened", "0.50 CPUs, busiest 60%"]);
    shows(&view, &["1.50 CPUs, machine 90%", "server-cpu (likely)", "The server uses all of its CPU time."]);
    shows(&view, &["the server used 1.90 of 2 CPUs", "suspected limit: server-cpu"]);
    // Both plots have an axis of time, and the second one both percentiles.
    shows(&view, &["p99 1.99 ms, p50 1.50 ms", "   0 s ", "  5 s ", " 10 s"]);
}

#[test]
fn errors_are_counted_and_shown_without_control_characters() {
    let mut view = view();
    let (progress, result) = seconds(4, Some("the server sent \u{1b}[2J\u{7}\u{202e}something"));
    view.update(progress, Arc::new(result));
    shows(&view, &["first error: read: the server sent \\u{1b}[2J", "4 (0.01% of requests)"]);
    for size in SIZES {
        assert!(screen(&view, size).iter().all(|line| !line.chars().any(|c| c.is_control() || c == '\u{202e}')));
    }
}

#[test]
fn what_was_done_is_seen_and_the_end_as_well() {
    let mut view = view();
    view.state = SteeringState { paused: true, rate: 1.0, connections: 11 };
    let event = |what, value| SteeringEvent { t: 3.0, what, value };
    view.log.steered(event(SteeringKind::Connections, Some(11.0)), None, "requests");
    view.log.steered(event(SteeringKind::Pause, None), None, "requests");
    view.refused(Wish::Raise);
    shows(&view, &["PAUSED", "now 11 connections", "p continue", "this run has at most 40 connections"]);
    assert!(screen(&view, SIZES[1]).iter().any(|line| line.contains("paused: Torr sends no requests")));
    view.ending("ended by the operator");
    shows(&view, &["ENDING", "ended by the operator"]);
}

#[test]
fn what_scripts_print_has_a_pane_of_its_own() {
    let mut view = view();
    let has_pane = |view: &View| screen(view, SIZES[0]).iter().any(|line| line.contains("Printed: "));
    assert!(!has_pane(&view), "nothing was printed");
    view.printed.add("order 1");
    shows(&view, &["Printed: 1 line "]);
    (2..=30).for_each(|n| view.printed.add(&format!("order {n} \u{1b}[2J")));
    shows(&view, &["Printed: 30 lines", "order 30 \\u{1b}[2J", "the run begins"]);
    view.printed.add(&"long ".repeat(100));
    shows(&view, &["Printed: 31 lines", "long long"]);
}

#[test]
fn a_procedure_shows_its_steps_and_the_figures_of_the_newest() {
    let mut procedure = Procedure::new(about());
    procedure.begins(0.0, "one request at a time", "what is the response time without load?");
    procedure.progress(1.0, &procedure::tests::progress(1.0, 500, 0));
    procedure.begins(2.0, "10 connections", "does throughput grow?");
    procedure.progress(3.0, &procedure::tests::progress(1.0, 900, 7));
    procedure.elapsed_s = 3.2;
    for (width, height) in SIZES {
        let lines = screen_of(|frame| draw_procedure(frame, &procedure, &Theme::colours()), (width, height));
        for text in [
            "http://127.0.0.1:8080/",
            "3 s of at most 60 s",
            "EXPERIMENT 2",
            "Throughput: 900 responses/s",
            "does throughput grow?",
            "one request at a time",
            "500/s",
            "1.00 ms",
            "q end",
        ] {
            assert!(lines.iter().any(|line| line.contains(text)), "{text}:\n{}", lines.join("\n"));
        }
    }
    for size in [(1, 1), (49, 40), (50, 12), (80, 11), (300, 100)] {
        let _ = screen_of(|frame| draw_procedure(frame, &procedure, &Theme::plain()), size);
    }
}

#[test]
fn help_names_each_key_of_the_last_line() {
    let mut view = view();
    view.shows_help = true;
    shows(
        &view,
        &["Keys", "end the run", "pause: send no requests", "raise or lower the connections", "mark this moment"],
    );
    view.load.steerable = Steerable::Nothing;
    let lines = screen(&view, SIZES[0]);
    assert!(!lines.iter().any(|line| line.contains("+ -")), "{}", lines.join("\n"));
}

#[test]
fn stages_are_logged_when_they_begin() {
    let mut view = view();
    view.load.stages =
        vec![(0.0, "stage 1: 10 requests/s in 5 s".into()), (5.0, "stage 2: 20 requests/s in 5 s".into())];
    view.at(1.0);
    assert_eq!(view.log.entries().len(), 2);
    view.at(5.0);
    assert_eq!(view.log.entries().last().map(|entry| entry.text.as_str()), Some("stage 2: 20 requests/s in 5 s"));
}

#[test]
fn every_size_is_drawn_and_a_small_one_says_so() {
    let mut view = view();
    let (progress, result) = seconds(3, Some("gone"));
    view.update(progress, Arc::new(result));
    view.log.add(1.0, "long ".repeat(100), Tone::Warn);
    view.load.target = format!("http://{}/", "host.".repeat(60));
    for (width, height) in [(1, 1), (20, 3), (49, 40), (50, 12), (80, 11), (80, 15), (132, 24), (300, 100)] {
        for help in [false, true] {
            view.shows_help = help;
            let _ = screen(&view, (width, height));
        }
    }
    assert!(screen(&view, (60, 5)).concat().contains("60 x 5 is too small"));
}

#[test]
fn a_theme_without_colours_has_none() {
    let mut view = view();
    let (progress, result) = seconds(4, Some("gone"));
    view.update(progress, Arc::new(result));
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal of memory");
    terminal.draw(|frame| draw(frame, &view, &Theme::plain())).expect("memory takes all");
    assert!(terminal.backend().buffer().content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}
