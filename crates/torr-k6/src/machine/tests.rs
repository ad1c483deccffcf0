//! Tests of virtual users without a load engine.

use super::*;
use crate::api::builtins;
use crate::modules::{Access, Program};
use crate::shared::RunShared;
use crate::user::IterationTask;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn machine(script: &'static str) -> Machine {
    let folder = std::env::temp_dir();
    let fetch = Box::new(|_: &str| Err("no network".to_owned()));
    let access = Access::new(&folder, None, true, fetch).expect("the folder exists");
    let program = Program::from_text("script.js", script.into(), access, builtins()).expect("the script is loaded");
    let vu = Vu::new(Arc::new(RunShared::default()), 1, Rc::default());
    Machine::new(vu, &Arc::new(program)).expect("a machine starts")
}

fn task(function: &str) -> Task {
    Task::Iteration(IterationTask::first(function))
}

fn loaded(script: &'static str) -> Machine {
    let mut machine = machine(script);
    match machine.run(Task::Init, None) {
        TaskEnd::Loaded(_) => machine,
        other => panic!("{other:?}"),
    }
}

fn iterate(machine: &mut Machine, deadline: Option<Instant>) -> TaskEnd {
    machine.run(task("default"), deadline)
}

#[test]
fn exports_are_read_after_the_top_level() {
    let mut machine = machine(
        "export let options = {vus: 1}; options.vus = Number('3'); options.gone = undefined;
         export const x = 5; export default () => {}; export function setup() { return {a: [1, 2], f() {}}; }",
    );
    let TaskEnd::Loaded(exports) = machine.run(Task::Init, None) else { panic!("it is not loaded") };
    assert_eq!(exports.options.as_deref(), Some(r#"{"vus":3}"#));
    assert!(exports.has("default") && exports.has("setup") && !exports.has("x"));
    let TaskEnd::Returned(data) = machine.run(Task::Setup, None) else { panic!("setup failed") };
    assert_eq!(data.as_deref(), Some(r#"{"a":[1,2]}"#));
}

#[test]
fn an_error_at_the_top_level_has_its_place() {
    let mut machine = machine("let a = 1;\n\nfoo.bar();\n");
    let TaskEnd::Threw(error) = machine.run(Task::Init, None) else { panic!("it did not fail") };
    assert!(error.message.contains("ReferenceError"), "{error:?}");
    assert!(error.place.as_deref().is_some_and(|place| place.contains("script.js:3")), "{error:?}");
}

#[test]
fn a_top_level_without_an_end_is_an_error() {
    for script in [
        "for (;;) { try { for (;;) {} } catch (e) {} }",
        "(function again() { Promise.resolve().then(again); })();",
        "setInterval(() => {}, 1);",
        "import { sleep } from 'k6'; sleep(1e9);",
        "/(a+)+$/.test('a'.repeat(50) + 'b');",
    ] {
        let TaskEnd::Threw(error) = machine(script).load_within(Duration::from_millis(50)) else { panic!("{script}") };
        assert_eq!(error.to_string(), "the top level of the script took longer than 50ms", "{script}");
    }
    let TaskEnd::Threw(error) = machine("await new Promise(() => {}); export {};").load() else {
        panic!("it has ended")
    };
    assert_eq!(error.to_string(), "Error: the top level of the script awaits a promise that never settles");
}

#[test]
fn errors_and_deep_recursion_end_an_iteration_and_not_the_user() {
    let mut machine = loaded(
        "let n = 0; function deep(k) { return k + deep(k + 1) + 1; }
         export default () => { n += 1; if (n === 1) throw new TypeError('no'); if (n === 2) deep(0); if (n !== 3) throw n; };",
    );
    let TaskEnd::Threw(first) = iterate(&mut machine, None) else { panic!("the first did not throw") };
    assert_eq!(first.message, "TypeError: no");
    let TaskEnd::Threw(second) = iterate(&mut machine, None) else { panic!("the second did not throw") };
    assert!(second.message.contains("stack"), "{second:?}");
    assert!(matches!(iterate(&mut machine, None), TaskEnd::Returned(None)));
}

#[test]
fn an_endless_loop_ends_at_its_deadline_whatever_it_catches() {
    let mut machine = loaded(
        "let n = 0;
         export default () => { n += 1; if (n > 1) return; for (;;) { try { for (;;) {} } catch (e) {} finally {} } };",
    );
    let end = iterate(&mut machine, Some(Instant::now() + Duration::from_millis(20)));
    assert!(matches!(end, TaskEnd::Interrupted), "{end:?}");
    assert!(matches!(iterate(&mut machine, None), TaskEnd::Returned(None)));
}

#[test]
fn a_wait_is_interrupted_and_cannot_be_caught() {
    let mut machine = loaded(
        "let done = 0;
         export default async () => {
             try { await new Promise(resolve => setTimeout(resolve, 1e9)); } catch (e) { done = 1; } finally { done = 2; }
         };",
    );
    let Pending::Waits(Wanted::Event(Some(_))) = machine.begin(task("default"), None) else {
        panic!("it does not wait")
    };
    assert!(matches!(machine.interrupt(), Pending::Ended(TaskEnd::Interrupted)));
    // A user that waits is dropped with what is on its stack.
    assert!(matches!(machine.begin(task("default"), None), Pending::Waits(_)));
}

#[test]
fn timers_promises_and_async_functions_end_before_the_iteration() {
    let mut machine = loaded(
        "let seen = [];
         export default async () => {
             const id = setInterval(() => { seen.push('i'); if (seen.length > 3) clearInterval(id); }, 1);
             setTimeout((a) => seen.push(a), 0, 't');
             await Promise.resolve();
             seen.push('d');
         };
         export function check() { if (seen.filter(s => s === 'i').length !== 2 || seen[0] !== 'd') throw seen.join(); }",
    );
    assert!(matches!(iterate(&mut machine, None), TaskEnd::Returned(None)));
    let end = machine.run(task("check"), None);
    assert!(matches!(end, TaskEnd::Returned(None)), "{end:?}");
}

#[test]
fn a_rejection_without_a_handler_fails_the_iteration() {
    let mut machine = loaded("export default () => { Promise.reject(new Error('lost')); };");
    let TaskEnd::Threw(error) = iterate(&mut machine, None) else { panic!("it did not throw") };
    assert!(error.message.contains("Uncaught (in promise)") && error.message.contains("lost"), "{error:?}");
    let mut machine = loaded("export default async () => { throw new Error('own'); };");
    let TaskEnd::Threw(error) = iterate(&mut machine, None) else { panic!("it did not throw") };
    assert_eq!(error.message, "Error: own");
    let mut machine = loaded(
        "export default () => { const p = Promise.reject(1); Promise.resolve().then(() => p.catch(() => {})); };",
    );
    assert!(matches!(iterate(&mut machine, None), TaskEnd::Returned(None)));
}

#[test]
fn memory_has_a_limit() {
    let mut machine =
        loaded("export default () => { const a = []; for (;;) a.push('x'.repeat(1 << 20) + a.length); };");
    let TaskEnd::Threw(error) = iterate(&mut machine, None) else { panic!("it did not throw") };
    assert!(error.message.contains("memory") || error.message.contains("null"), "{error:?}");
    let mut again = loaded("export default () => {};");
    assert!(matches!(iterate(&mut again, None), TaskEnd::Returned(None)));
}
