//! Java: a function that computes, a monitor with its holder, a lock, a pool, idle workers. `./test full` installs Java.

use super::service::{Service, share, source, waiters, waits};
use std::collections::BTreeSet;
use std::process::Command;
use torr_where::runtime::{Permission, Reading, detect, observe};
use torr_where::{Remedy, Runtime, WaitKind};

fn start() -> Service {
    let java = std::env::var("TORR_JAVA").unwrap_or_else(|_| "java".into());
    let service =
        Service::start(Command::new(java).arg("-Dsun.net.httpserver.nodelay=true").arg(source("Service.java")));
    assert_eq!(detect(service.process()), Runtime::Jvm);
    service
}

/// Returns the locks that threads wait for in a function, and their names.
fn locks(reading: &Reading, function: &str) -> (usize, BTreeSet<String>) {
    let waiters = waiters(reading, function);
    let locks: BTreeSet<_> = waiters.iter().filter_map(|sample| sample.wait.as_ref()?.lock()).collect();
    (locks.len(), locks.iter().filter_map(|lock| lock.name.clone()).collect())
}

#[test]
#[ignore = "java is of `./test full`"]
fn the_method_that_computes_is_named_with_its_line() {
    let service = start();
    let reading = service.observe(Runtime::Jvm, "/hot", 4, |reading| reading.cpu.len() >= 100);
    // The compiler has much to do with a service that has just started.
    let own: Vec<_> = reading.cpu.iter().filter(|sample| sample.stack.own().is_some()).cloned().collect();
    let share = share(&own, "Service.hot");
    assert!(share > 0.5, "{share}");
    let hot = reading.cpu.iter().filter_map(|sample| sample.stack.own()).find(|frame| frame.function == "Service.hot");
    let hot = hot.expect("the share is not 0");
    assert_eq!(hot.file.as_deref(), Some("Service.java"));
    assert!(hot.line.is_some_and(|line| (14..=19).contains(&line)), "{hot:?}");
    assert!(waits(&reading, |wait| *wait == WaitKind::Condition) > 0, "workers without work are idle");
}

#[test]
#[ignore = "java is of `./test full`"]
fn threads_wait_for_a_monitor_and_the_holder_is_known() {
    let service = start();
    let reading =
        service.observe(Runtime::Jvm, "/monitor", 4, |reading| waiters(reading, "Service.monitor").len() >= 40);
    assert_eq!(locks(&reading, "Service.monitor"), (1, BTreeSet::from(["Object".to_owned()])));
    let waiters = waiters(&reading, "Service.monitor");
    let lock = waiters[0].wait.as_ref().and_then(WaitKind::lock).expect("the threads wait for it");
    let holders: Vec<_> = reading.rounds.iter().flatten().filter(|sample| sample.holds.contains(lock)).collect();
    assert!(holders.len() > 10, "{}", holders.len());
    let holds =
        holders.iter().filter(|sample| sample.stack.own().is_some_and(|frame| frame.function == "Service.hold"));
    assert!(holds.count() * 10 >= holders.len() * 8);
}

#[test]
#[ignore = "java is of `./test full`"]
fn threads_wait_for_a_lock_or_a_connection_of_a_pool() {
    let service = start();
    let reading = service.observe(Runtime::Jvm, "/locked", 4, |reading| waiters(reading, "Service.locked").len() >= 20);
    assert_eq!(locks(&reading, "Service.locked"), (1, BTreeSet::from(["ReentrantLock".to_owned()])));
    let reading = service.observe(Runtime::Jvm, "/pooled", 4, |reading| waiters(reading, "Service.pooled").len() >= 20);
    assert_eq!(locks(&reading, "Service.pooled"), (1, BTreeSet::from(["queue".to_owned()])));
}

#[test]
#[ignore = "java is of `./test full`"]
fn a_jvm_gets_no_request_without_permission() {
    let service = start();
    let time = std::time::Duration::from_secs(1);
    let reading = observe(service.process(), Runtime::Jvm, Permission::Reading, time, &false.into());
    assert_eq!(reading.unseen.map(|unseen| unseen.remedies), Some(vec![Remedy::Ask]));
    assert!(!std::path::Path::new(&format!("/tmp/.java_pid{}", service.process())).exists());
}
