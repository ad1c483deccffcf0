//! The measured time begins when every load thread is ready, however late a thread gets to run.

mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use torr_gauge::Failure;
use torr_gauge::sessions::EntryName;
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Users};
use torr_press::{Plan, RequestInfo, RequestParts, Requests, Target, run};

/// The length of the run, in which a busy machine lets each thread send a request.
const RUN: Duration = Duration::from_millis(1500);

/// Users whose last thread is ready only after a time that is longer than the run, as on a machine that gives it no CPU.
#[derive(Debug, Default)]
struct Late {
    /// The number of sessions that each thread began.
    sessions: [AtomicU64; 2],
}

impl Users for Late {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName { name: "request".to_owned(), ..EntryName::default() }]
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        if part.thread + 1 == part.threads {
            // Not synchronisation: this is the delay that must not count.
            std::thread::sleep(2 * RUN);
        }
        let sent = vec![false; part.users.len()];
        Box::new(OneRequestEach { sessions: &self.sessions[part.thread], sent })
    }
}

/// The users of a thread, each session of which is one request.
struct OneRequestEach<'l> {
    sessions: &'l AtomicU64,
    sent: Vec<bool>,
}

impl ThreadUsers for OneRequestEach<'_> {
    fn begin(&mut self, user: usize) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        self.sent[user] = false;
    }

    fn next(&mut self, user: usize) -> Step {
        match std::mem::replace(&mut self.sent[user], true) {
            false => Step::Send(0),
            true => Step::Finished,
        }
    }

    fn write(&mut self, _user: usize, out: &mut Vec<u8>) -> RequestInfo {
        out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: name.test\r\n\r\n");
        RequestInfo::default()
    }

    fn parts(&mut self, _user: usize) -> RequestParts {
        unreachable!("the run is over HTTP/1.1")
    }

    fn received(&mut self, _user: usize, _received: &ReceivedBy<'_>) -> Judged {
        Judged { passed: true, unmet: Vec::new(), retries: false }
    }

    fn failed(&mut self, _user: usize, failure: &Failure) {
        panic!("a request failed: {failure:?}");
    }
}

#[test]
fn a_thread_that_is_ready_late_takes_nothing_from_the_measured_time() {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let late = Arc::new(Late::default());
    let plan = Plan {
        connections: 2,
        threads: 2,
        duration: Some(RUN),
        work: (Arc::clone(&late) as Arc<dyn Users>).into(),
        ..Plan::new(target, vec![server::start(server::EMPTY).into()], request)
    };
    let begun = Instant::now();
    let result = run(&plan, &AtomicBool::new(false), |_| {}).expect("it runs").result;
    assert!(begun.elapsed() >= 3 * RUN, "the run began when the last thread was ready: {:?}", begun.elapsed());
    let sessions = late.sessions.each_ref().map(|count| count.load(Ordering::Relaxed));
    assert!(sessions.iter().all(|&count| count > 0), "each thread sends requests: {sessions:?}, {result:?}");
    assert!(result.duration_s < begun.elapsed().as_secs_f64() - RUN.as_secs_f64(), "{result:?}");
}
