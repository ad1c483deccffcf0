//! Surveys of programs whose places are known, and of programs that have none.

mod support;

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use support::{Program, compiled};
use torr_where::place::Place;
use torr_where::{Localisation, PlaceKind, Resource, Survey};

/// Surveys a program for three seconds.
fn surveyed(program: &Program, resource: Resource) -> Localisation {
    run(Survey::of(vec![program.process()], resource, Duration::from_secs(3)))
}

fn run(survey: Survey) -> Localisation {
    let found = survey.run(&AtomicBool::new(false));
    for place in &found.widest {
        println!("{}", line(place));
    }
    println!("unseen {:?}", found.unseen);
    found
}

/// Surveys a program until a place dominates, of a lock with its holder, ten times at most: beside other programs a survey may see too little.
fn found(program: &Program, resource: Resource) -> Localisation {
    let is_known = |place: &Place| place.kind == PlaceKind::Cpu || place.holder.is_some();
    let found = (0..10).map(|_| surveyed(program, resource)).find(|found| found.places.first().is_some_and(is_known));
    found.expect("a place dominates in one of ten surveys")
}

fn line(place: &Place) -> String {
    let name = |frame: &Option<std::sync::Arc<torr_where::Frame>>| frame.as_ref().map(|frame| frame.function.clone());
    let holder = place.holder.as_ref().map(|holder| (&holder.frame.function, &holder.wait, holder.share.value));
    format!(
        "{:?} {:?} calls {:?} from {:?} lock {:?} holder {holder:?} share {:.2?} gain {:.2?}",
        place.kind,
        name(&place.frame),
        name(&place.leaf),
        name(&place.caller),
        place.lock,
        place.share,
        place.gain
    )
}

fn function(place: &Place) -> &str {
    place.frame.as_ref().map_or("", |frame| &frame.function)
}

fn lock(place: &Place) -> Option<&str> {
    place.lock.as_ref()?.name.as_deref()
}

fn holder(place: &Place) -> Option<&str> {
    Some(&place.holder.as_ref()?.frame.function)
}

#[test]
fn the_static_mutex_is_the_place_and_what_it_is_held_during_is_said() {
    let program = Program::start(&compiled("lock.c", &["-O2"]), &[]);
    let found = found(&program, Resource::Lock);
    let place = found.places.first().expect("the lock dominates");
    assert_eq!((place.kind, function(place), lock(place)), (PlaceKind::Lock, "serve_page", Some("cache_lock")));
    assert_eq!(holder(place), Some("refresh_cache"));
    assert_eq!(found.places.len(), 1);
    // Halving the time for which the lock is held doubles the throughput.
    assert!(place.gain.is_some_and(|gain| gain.value > 1.8), "{:?}", place.gain);
}

#[test]
fn of_two_locks_in_an_order_the_last_one_is_the_place() {
    let program = Program::start(&compiled("order.c", &["-O2"]), &[]);
    let found = found(&program, Resource::Lock);
    let place = found.places.first().expect("the ledger's lock dominates");
    assert_eq!((function(place), holder(place)), ("post_entry", Some("append_entry")));
    assert!(found.places.iter().all(|place| lock(place) != Some("account_lock")), "{:?}", found.places);
}

#[test]
fn a_mutex_of_rust_under_which_a_thread_computes_is_the_place() {
    for options in [vec![], vec!["-g"]] {
        let program = Program::start(&compiled("receipt.rs", &options), &[]);
        let found = found(&program, Resource::Lock);
        let place = found.places.first().expect("the lock dominates");
        assert_eq!(
            (function(place), holder(place)),
            ("receipt::checkout", Some("receipt::compute_receipt")),
            "{options:?}"
        );
    }
}

#[test]
fn workers_that_wait_for_work_are_no_lock_and_many_functions_are_no_place() {
    let program = Program::start(&compiled("pool.c", &["-O1"]), &[]);
    for resource in [Resource::Lock, Resource::Cpu, Resource::Workers] {
        let found = surveyed(&program, resource);
        assert!(found.places.is_empty(), "{resource:?}: {:?}", found.places.iter().map(line).collect::<Vec<_>>());
    }
}

#[test]
fn the_function_that_computes_is_the_place() {
    for options in [vec![], vec!["-g"], vec!["-Cforce-frame-pointers=yes"]] {
        let program = Program::start(&compiled("compute.rs", &options), &[]);
        let found = found(&program, Resource::Thread);
        let place = found.places.first().expect("a function dominates");
        assert_eq!((place.kind, function(place)), (PlaceKind::Cpu, "compute::render_page"), "{options:?}");
        let line = place.frame.as_ref().and_then(|frame| frame.line);
        assert_eq!(line.is_some(), options == ["-g"], "{line:?}");
    }
}

#[test]
fn goroutines_that_wait_for_a_mutex_are_seen_with_its_name_and_holder() {
    let program = Program::start(&compiled("shop.go", &[]), &["cache"]);
    let found = found(&program, Resource::Lock);
    let place = found.places.first().expect("the lock dominates");
    assert_eq!((function(place), lock(place)), ("main.servePage", Some("main.cacheLock")));
    assert_eq!(holder(place), Some("main.refreshCache"));
    assert_eq!(found.places.len(), 1);
}

#[test]
fn a_receipt_that_go_computes_under_a_mutex_is_what_the_lock_is_held_during() {
    let program = Program::start(&compiled("shop.go", &[]), &["receipt"]);
    let found = found(&program, Resource::Lock);
    let place = found.places.first().expect("the lock dominates");
    assert_eq!((function(place), holder(place)), ("main.(*ledger).checkout", Some("main.computeReceipt")));
}

#[test]
fn the_function_of_go_that_computes_is_the_place() {
    let program = Program::start(&compiled("shop.go", &[]), &["cpu"]);
    let found = found(&program, Resource::Thread);
    let place = found.places.first().expect("a function dominates");
    assert_eq!(function(place), "main.computeReceipt");
    assert_eq!(place.caller.as_ref().map(|frame| frame.function.as_str()), Some("main.render"));
    let idle = surveyed(&program, Resource::Lock);
    assert!(idle.places.is_empty());
}

#[test]
fn a_program_of_go_without_debug_information_has_names_lines_and_inlined_functions() {
    for options in [&[][..], &["-ldflags=-w"], &["-ldflags=-s -w"], &["-ldflags=-s -w", "-buildmode=pie"]] {
        let program = Program::start(&compiled("shop.go", options), &["inlined"]);
        let found = found(&program, Resource::Thread);
        let place = found.places.first().expect("a function dominates");
        let caller = place.caller.as_ref().map(|frame| frame.function.as_str());
        assert_eq!((function(place), caller), ("main.step", Some("main.total")), "{options:?}");
        let frame = place.frame.as_ref().expect("it has a name");
        assert!(frame.file.as_ref().is_some_and(|file| file.ends_with("/shop.go")), "{options:?}: {frame:?}");
        assert!(frame.line.is_some_and(|line| (31..=37).contains(&line)), "{options:?}: {frame:?}");
        assert!(found.unseen.is_empty(), "{options:?}: {:?}", found.unseen);
    }
}

#[test]
fn the_pool_that_requests_wait_for_is_a_place_and_idle_workers_are_none() {
    let pool = compiled("label.c", &["-O2"]);
    let program = Program::start(&pool, &[]);
    let found = found(&program, Resource::Pool);
    let place = found.places.first().expect("the pool dominates");
    assert_eq!((function(place), holder(place)), ("label", Some("print_label")));
    assert!(found.places.iter().all(|place| function(place) != "run_job"), "{:?}", found.places);
    drop(program);
    let program = Program::start(&pool, &["idle"]);
    let found = surveyed(&program, Resource::Pool);
    assert!(found.places.is_empty(), "{:?}", found.places);
}

#[test]
fn the_pool_of_clients_that_never_pause_is_known_by_the_requests_in_flight() {
    const CLIENTS: usize = 24;
    let survey = |program: &Program| {
        run(Survey::of(vec![program.process()], Resource::Pool, Duration::from_secs(3)).in_flight(CLIENTS))
    };
    let pool = compiled("label.c", &["-O2", "-DPAUSE=0"]);
    let program = Program::start(&pool, &[]);
    let found = (0..10).map(|_| survey(&program)).find(|found| !found.places.is_empty());
    let found = found.expect("the pool dominates in one of ten surveys");
    assert_eq!((function(&found.places[0]), holder(&found.places[0])), ("label", Some("print_label")));
    drop(program);
    let found = survey(&Program::start(&pool, &["idle"]));
    assert!(found.places.is_empty(), "{:?}", found.places);
}
