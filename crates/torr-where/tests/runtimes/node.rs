//! Node: a function that computes, and an inspector that is closed afterwards. `./test full` installs node.

use super::service::{Service, share, source};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use torr_where::runtime::{Permission, detect, observe};
use torr_where::{Remedy, Runtime, UnseenReason};

/// All inspectors of a machine have one port.
static INSPECTOR: Mutex<()> = Mutex::new(());

fn start() -> (Service, MutexGuard<'static, ()>) {
    let alone = INSPECTOR.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let service = Service::start(Command::new("node").arg(source("service.mjs")).stderr(Stdio::null()));
    assert_eq!(detect(service.process()), Runtime::Node);
    (service, alone)
}

#[test]
#[ignore = "node is of `./test full`"]
fn the_function_that_computes_is_named_with_its_line_and_the_inspector_is_closed() {
    let (service, _alone) = start();
    // The second reading opens the inspector again.
    let reading = service.observe(Runtime::Node, "/hot", 4, |reading| reading.cpu.len() >= 400);
    let share = share(&reading.cpu, "hot");
    assert!(share > 0.6, "{share}");
    let sample = reading.cpu.iter().find(|sample| sample.stack.own().is_some_and(|frame| frame.function == "hot"));
    let stack = &sample.expect("the share is not 0").stack;
    let hot = stack.own().expect("as before");
    assert!(hot.file.as_ref().is_some_and(|file| file.ends_with("services/service.mjs")), "{hot:?}");
    assert!(hot.line.is_some_and(|line| (4..=9).contains(&line)), "{hot:?}");
    let caller = stack.0.iter().filter(|frame| frame.is_own).nth(1).expect("a handler calls the function");
    assert_eq!((caller.function.as_str(), caller.line), ("handle", Some(12)));
    assert!(std::net::TcpStream::connect(("127.0.0.1", 9229)).is_err(), "the inspector is open");
}

#[test]
#[ignore = "node is of `./test full`"]
fn node_gets_no_request_without_permission_and_an_idle_one_has_tasks() {
    let (service, _alone) = start();
    let observe = |permission| {
        let time = Duration::from_secs(1);
        observe(service.process(), Runtime::Node, permission, time, &false.into()).unseen.expect("there is no load")
    };
    assert_eq!(observe(Permission::Reading).remedies, [Remedy::Ask]);
    assert_eq!(observe(Permission::Asking).why, UnseenReason::Tasks);
}
