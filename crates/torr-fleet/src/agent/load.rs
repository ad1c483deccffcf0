//! The load of an agent, on a thread of its own.

use crate::message::{End, EntryMessage, Facts, Interval, Message, Own, SampleText};
use crate::role::Agent;
use crate::threads::ThreadIntervals;
use bytes::Bytes;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tokio::sync::mpsc::UnboundedSender;
use torr_gauge::collector::{Measurement, RunFacts};
use torr_gauge::sessions::SessionFacts;
use torr_gauge::{Collector, Sample};
use torr_net::{Clock, Nanos, clock};
use torr_press::{Observed, Plan, RunError, observe};

/// What the load reports.
#[derive(Debug)]
pub(super) enum LoadEvent {
    /// It began, at this time.
    Began(Nanos),
    /// An encoded interval, with its number.
    Interval(u64, Bytes),
    /// The encoded counts of the next entry of sessions.
    Entry(Bytes),
    /// The encoded end.
    End(Bytes),
}

/// Starts a thread that carries out a plan from a time on, and reports by `events`.
///
/// # Errors
/// If the system refuses the thread.
pub(super) fn start(
    plan: Plan,
    (time, at): (Clock, Nanos),
    stop: Arc<AtomicBool>,
    agent: Arc<dyn Agent>,
    events: UnboundedSender<LoadEvent>,
) -> io::Result<()> {
    let run = move || {
        let mut load = Load { events, intervals: ThreadIntervals::new(plan.thread_count()), warmup: None };
        // A load is what another machine says: whatever becomes of it, the agent responds and is there for the next one.
        let end = catch_unwind(AssertUnwindSafe(|| load.run(&plan, (&time, at), &stop, agent.as_ref())));
        let end = end.unwrap_or_else(|panic| failed(format!("the load failed: {}", reason(panic.as_ref()))));
        load.report(LoadEvent::End(Message::End(Box::new(end)).encode()));
    };
    thread::Builder::new().name("fleet-load".into()).spawn(run).map(drop)
}

/// The end of an agent without a run.
fn failed(why: String) -> End {
    let (facts, own) = (Facts::default(), Own::default());
    End { intervals: 0, stopped: false, failed: Some(why), unreachable: false, facts, own }
}

/// Returns the text of a panic.
fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("panic without a message")
}

struct Load {
    events: UnboundedSender<LoadEvent>,
    intervals: ThreadIntervals,
    warmup: Option<Sample>,
}

impl Load {
    /// Carries out a plan and returns its end.
    fn run(&mut self, plan: &Plan, (time, at): (&Clock, Nanos), stop: &AtomicBool, agent: &dyn Agent) -> End {
        let mut collector = Collector::new(plan.thread_count(), plan.interval);
        let mut sent = 0;
        // One that is late begins now, and is as long.
        let begins = at.max(time.now());
        let is_early = || time.now() < begins;
        // All that the load needs is prepared by then: hundreds of agents on one machine take their time for it.
        let ended = observe(plan, Some(time.with_epoch(begins)), stop, |observed| match observed {
            // Its threads were stopped.
            _ if is_early() => {}
            Observed::Began(late) => self.report(LoadEvent::Began(begins + late)),
            Observed::Warmup(sample) => {
                collector.warmup(sample);
                self.warmup.get_or_insert_default().add(sample);
            }
            // The result of a fleet has the machine of the whole, and no agent's.
            Observed::Cpu { .. } => {}
            Observed::Interval { thread, interval, sample, last } => {
                collector.take(thread, interval, sample, last);
                for (number, sample) in self.intervals.take(interval, sample, last) {
                    sent = sent.max(number + 1);
                    self.send(number, sample, false);
                }
            }
        });
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let unreachable = matches!(error, RunError::Unreachable { .. });
                return End { unreachable, ..failed(error.to_string()) };
            }
        };
        if is_early() {
            return End { stopped: true, ..failed("the run was stopped before it began".into()) };
        }
        let rest = std::mem::replace(&mut self.intervals, ThreadIntervals::new(0)).finish();
        let last = rest.len() - 1;
        for (at, (number, sample)) in rest.into_iter().enumerate() {
            sent = sent.max(number + 1);
            self.send(number, sample, at == last);
        }
        let facts = facts(&ended.facts, ended.given_up, self.warmup.take());
        if let Some(sessions) = &ended.facts.sessions {
            self.send_entries(sessions);
        }
        let error = plan.work.users().and_then(|users| users.error());
        let own = Own { error, ..own(&ended.measured_by(collector), agent) };
        End { intervals: sent, stopped: stop.load(Ordering::Relaxed), failed: None, unreachable: false, facts, own }
    }

    fn send(&self, number: u64, mut sample: Sample, last: bool) {
        // Each agent judges the times between its own requests; those of several are of several distributions.
        sample.gaps.clear();
        let message = Message::Interval(Box::new(Interval { number, last, sample: SampleText::of(&sample) }));
        self.report(LoadEvent::Interval(number, message.encode()));
    }

    /// Sends the counts of each entry in a message of its own: those of all could be more than NATS takes as one.
    fn send_entries(&self, sessions: &SessionFacts) {
        let named = sessions.counts.entries.iter().zip(&sessions.entries);
        for (number, (counts, name)) in (0..).zip(named) {
            let origins = counts.servers().filter_map(|server| sessions.origins.get(server).cloned()).collect();
            let message = EntryMessage { number, name: name.clone(), counts: counts.clone(), origins };
            self.report(LoadEvent::Entry(Message::Entry(Box::new(message)).encode()));
        }
    }

    fn report(&self, event: LoadEvent) {
        // Without a receiver the agent has ended.
        let _ = self.events.send(event);
    }
}

fn facts(facts: &RunFacts, given_up: bool, warmup: Option<Sample>) -> Facts {
    Facts {
        duration_ns: clock::nanos(facts.duration),
        started: facts.started,
        given_up,
        carried: facts.carried,
        peak: facts.peak.unwrap_or_default(),
        sources: facts.sources.unwrap_or(0),
        timestamps: facts.timestamps,
        threads: facts.threads.clone(),
        tls: facts.tls.clone(),
        failed_response: facts.failed_response.clone(),
        warmup,
        sessions: facts.sessions.as_ref().map(|sessions| sessions.counts.clone()),
        entries: facts.sessions.as_ref().map_or(0, |sessions| sessions.counts.entries.len() as u64),
    }
}

/// Returns what an agent's measurement says of the agent.
fn own(measured: &Measurement, agent: &dyn Agent) -> Own {
    let result = &measured.result;
    let findings = result.validity.iter().flat_map(|validity| &validity.findings);
    Own {
        busy_share: result.generator.busy_share,
        send_lag_p99_us: result.generator.send_lag_p99_us,
        saturated: result.generator.saturated,
        verdict: agent.judge(result).map(|verdict| format!("{}: {}", verdict.factor, verdict.summary)),
        findings: findings.filter(|finding| !finding.ok).cloned().collect(),
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::time::Duration;
    use tokio::sync::mpsc;
    use torr_gauge::{RunResult, Verdict};
    use torr_net::Address;
    use torr_press::{Requests, Target};

    /// An agent whose program fails.
    struct Failing;

    impl Agent for Failing {
        fn plan(&self, _: crate::load::LoadAndFiles) -> Result<Plan, String> {
            panic!("no plan")
        }

        fn judge(&self, _: &RunResult) -> Option<Verdict> {
            panic!("no verdict")
        }

        fn note(&self, _: &str) {}
    }

    /// Starts a server that responds to each request, which arrives at once.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("it listens");
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                    }
                });
            }
        });
        address
    }

    #[test]
    fn a_load_that_panics_has_failed() {
        let address = server();
        let target = Target::parse(&format!("http://{address}/")).expect("it is a URL");
        let request = Requests::get(&target, true).expect("it can be sent");
        let plan = Plan::new(target, vec![Address::Tcp(address)], request);
        let plan = Plan { connections: 1, duration: Some(Duration::from_millis(20)), watch_server: false, ..plan };
        let (sender, mut events) = mpsc::unbounded_channel();
        start(plan, (Clock::start(), 0), Arc::default(), Arc::new(Failing), sender).expect("there is a thread");
        let end = std::iter::from_fn(|| events.blocking_recv()).find_map(|event| match event {
            LoadEvent::End(bytes) => Some(bytes),
            _ => None,
        });
        let Ok(Message::End(end)) = Message::decode(&end.expect("each load has an end")) else { panic!("it is one") };
        assert_eq!(end.failed.as_deref(), Some("the load failed: no verdict"));
    }
}
