//! Python: a function that computes, a lock, a semaphore, the GIL, idle threads.

use super::service::{Service, share, source, waiters, waits};
use std::collections::BTreeSet;
use std::process::Command;
use torr_where::runtime::detect;
use torr_where::{Runtime, WaitKind};

/// The interpreters to test: Debian's, or those that the variable names, separated by colons.
fn interpreters() -> Vec<String> {
    let named = std::env::var("TORR_PYTHONS").unwrap_or_else(|_| "/usr/bin/python3".into());
    named.split(':').map(str::to_owned).collect()
}

fn each(test: impl Fn(&Service)) {
    for interpreter in interpreters() {
        eprintln!("{interpreter}");
        let service = Service::start(Command::new(interpreter).arg(source("service.py")));
        assert_eq!(detect(service.process()), Runtime::Python);
        test(&service);
    }
}

#[test]
fn the_function_that_computes_is_named_with_its_line() {
    each(|service| {
        // The main thread waits for connections, other threads for the GIL.
        let gil = |wait: &WaitKind| wait.lock().is_some_and(|lock| lock.name.as_deref() == Some("GIL"));
        let enough = |reading: &_| waits(reading, gil) > 0 && waits(reading, |wait| *wait == WaitKind::Idle) > 0;
        let reading =
            service.observe(Runtime::Python, "/hot", 4, |reading| reading.cpu.len() >= 100 && enough(reading));
        let share = share(&reading.cpu, "hot");
        assert!(share > 0.6, "{share}");
        let hot = reading.cpu.iter().filter_map(|sample| sample.stack.own()).find(|frame| frame.function == "hot");
        let hot = hot.expect("the share is not 0");
        assert!(hot.file.as_ref().is_some_and(|file| file.ends_with("services/service.py")), "{hot:?}");
        assert!(hot.line.is_some_and(|line| (12..=16).contains(&line)), "{hot:?}");
        // The handler that calls it is own code too, within the library's server.
        let sample = reading.cpu.iter().find(|sample| sample.stack.own() == Some(hot)).expect("as before");
        let outer = sample.stack.0.iter().filter(|frame| frame.is_own).nth(1).expect("do_GET calls the function");
        assert!(outer.function.ends_with("do_GET"), "{outer:?}");
        assert!(sample.stack.0.iter().any(|frame| !frame.is_own && frame.module == "socketserver"));
        let holders: BTreeSet<_> =
            reading.cpu.iter().filter(|sample| !sample.holds.is_empty()).map(|s| s.thread).collect();
        assert!(holders.len() > 1, "the threads take turns at the GIL");
    });
}

#[test]
fn threads_wait_for_a_lock_that_one_holds_during_a_pause() {
    each(|service| {
        let enough = |reading: &_| waiters(reading, "locked").len() >= 60;
        let reading = service.observe(Runtime::Python, "/locked", 4, enough);
        let waiters = waiters(&reading, "locked");
        let locks: BTreeSet<_> = waiters.iter().filter_map(|sample| sample.wait.as_ref()?.lock()).collect();
        assert_eq!(locks.len(), 1, "{locks:?}");
        let line = waiters[0].stack.own().and_then(|frame| frame.line);
        assert!(line.is_some_and(|line| (22..=23).contains(&line)), "{line:?}");
        let sleeps = reading.rounds.iter().flatten().filter(|sample| sample.wait == Some(WaitKind::Sleep));
        let holders: Vec<_> = sleeps.filter_map(|sample| sample.stack.own()).map(|frame| &*frame.function).collect();
        // The thread goes on between the two looks at it, at its stack and at what it waits for: a few samples are of neither.
        let held = holders.iter().filter(|function| **function == "hold").count();
        assert!(held > 0 && held * 10 >= holders.len() * 9, "{holders:?}");
    });
}

#[test]
fn threads_wait_for_a_semaphore_together() {
    each(|service| {
        let enough = |reading: &_| waiters(reading, "pooled").len() >= 30;
        let reading = service.observe(Runtime::Python, "/pooled", 4, enough);
        let waiters = waiters(&reading, "pooled");
        let locks: BTreeSet<_> = waiters.iter().filter_map(|sample| sample.wait.as_ref()?.lock()).collect();
        let names: BTreeSet<_> = locks.iter().filter_map(|lock| lock.name.as_deref()).collect();
        assert_eq!((locks.len(), names), (1, BTreeSet::from(["semaphore"])));
    });
}
