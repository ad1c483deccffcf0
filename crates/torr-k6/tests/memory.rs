//! What a virtual user takes.
//!
//! A program with one test, since it reads what the whole process takes.

mod common;

use common::run_as_with;
use torr_k6::run::{RunSettings, StopCause};
use torr_test_support::script::{OK, Script};
use torr_test_support::wait_until;

/// The size in bytes of the area of a stack (`user/fiber.rs`).
const STACK: u64 = 512 * 1024;
/// The smallest size in bytes of an area that script engines allocate from: such areas have 32 MiB (`machine/heap.rs`), and nothing
/// else in this process has one of so many bytes.
const BLOCK: u64 = 32 * 1024 * 1024;

/// What a process takes, in KiB.
#[derive(Debug, Default, Clone, Copy)]
struct Resident {
    /// The number of stacks.
    stacks: u64,
    /// What was used of the stack of which most was used.
    deepest_stack: u64,
    /// What was used of the areas of the script engines.
    engines: u64,
}

/// Returns what this process takes now.
fn resident() -> Resident {
    let areas = std::fs::read_to_string("/proc/self/smaps").expect("/proc is there");
    let mut found = Resident::default();
    let mut size = 0;
    for line in areas.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("Rss:") => {
                let used = words.next().and_then(|number| number.parse().ok()).expect("it is a number");
                if size == STACK {
                    found.stacks += 1;
                    found.deepest_stack = found.deepest_stack.max(used);
                } else if size >= BLOCK {
                    found.engines += used;
                }
            }
            // The first line of an area has its addresses, its rights, and the number of its file: 0 for memory of the process's own.
            Some(first) if !first.ends_with(':') => {
                let (start, end) = first.split_once('-').expect("an area has two ends");
                let number = |text| u64::from_str_radix(text, 16).expect("an address is a number");
                let is_writable = words.next().is_some_and(|rights| rights.starts_with("rw"));
                let is_own = words.nth(2) == Some("0");
                size = if is_writable && is_own { number(end) - number(start) } else { 0 };
            }
            _ => {}
        }
    }
    found
}

/// Runs so many users of one thread with this top level, and returns what the process takes while each of them waits for a response that
/// does not come, after iterations of `body`.
fn taken_by(users: usize, top: &str, body: &str) -> Resident {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            if !request.starts_with(b"GET /never") {
                client.send(OK);
            }
        }
    });
    let script = format!(
        "import http from 'k6/http';
         import {{ check }} from 'k6';
         import {{ SharedArray }} from 'k6/data';
         {top}
         export const options = {{scenarios: {{all: {{executor: 'per-vu-iterations', vus: {users}, iterations: 3}}}}}};
         export default function () {{
             if (__ITER === 2) {{ http.get(__ENV.URL + 'never'); }}
             {body}
         }}"
    );
    let mut taken = Resident::default();
    let own = RunSettings { threads: Some(1), ..RunSettings::default() };
    let ended = run_as_with(&script, &server.url(), own, |shared| {
        wait_until("all users to wait", || (server.requests() == 3 * users).then_some(()));
        taken = resident();
        shared.control.stop(StopCause::Interrupted);
    });
    assert_eq!(ended.end.exit_code, 105, "{}", ended.log);
    taken
}

/// The most that iterations of a request and a check may use of a stack, in KiB. They use 44. The tables of codings of content, which
/// were once on the stack of each call, take more than 100; but only in a release build, where all is inlined into one function, for
/// which the same bound is meant.
const MOST_OF_STACK: u64 = 96;
/// The most that a user may take of the memory of the script engines, in KiB. It takes 205; where this comes in large pages, 200 users
/// take up to 10 KiB each more or less. With stack, place and connection a user is meant to take 300.
const MOST_OF_ENGINE: u64 = 240;
/// The most that a user may take of rows that all share, in KiB: the rows have 400, and large pages make a difference of 40.
const MOST_OF_SHARED_ROWS: u64 = 90;

#[test]
fn a_virtual_user_takes_no_more_memory_than_it_is_meant_to() {
    let get = "check(http.get(__ENV.URL), { ok: (r) => r.status === 200 });";
    let (few, many) = (taken_by(50, "", get), taken_by(250, "", get));
    // The areas of a few stacks have become one with what lies beside them.
    assert!(few.stacks >= 40 && many.stacks >= 225, "{few:?} {many:?}");
    assert!(many.deepest_stack >= 8 && many.deepest_stack <= MOST_OF_STACK, "{many:?}");
    let each = (many.engines - few.engines) / 200;
    assert!((20..=MOST_OF_ENGINE).contains(&each), "{each} KiB for each user: {few:?} {many:?}");

    let rows = "const rows = new SharedArray('rows', () =>
        Array.from({ length: 2000 }, (_, n) => ({ n, text: 'x'.repeat(180) })));";
    let reads = "if (rows.length !== 2000 || rows[__ITER].n !== __ITER) { throw new Error('rows'); }";
    let shared = taken_by(50, rows, &format!("{reads} {get}"));
    let more = shared.engines.saturating_sub(few.engines) / 50;
    assert!(more <= MOST_OF_SHARED_ROWS, "{more} KiB for each user: {few:?} {shared:?}");
}
