//! What other programs and the hypervisor took from a measurement. The processes of the test itself are never among the others.

mod own;

use own::OwnProcesses;
use procfs::CurrentSI;
use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The share of the machine's CPU time from which others disturb a measurement: on two CPUs, three tenths of one.
const OTHERS: f64 = 0.15;
/// The share of the machine's CPU time from which the hypervisor disturbs a measurement.
const STOLEN: f64 = 0.02;
/// The time that own threads waited for a CPU, as a share of the machine's CPU time, from which waits disturb a measurement ...
const QUEUED: f64 = 0.1;
/// ... if others used this share at least: own threads wait for each other as well.
const OTHERS_BESIDE_WAITS: f64 = 0.05;
/// The time between two looks at the waits of own threads. The waits of a thread that has ended are known up to the look before.
const LOOK: Duration = Duration::from_millis(500);

/// The CPU time that a measurement lacked, as shares of the machine's, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Disturbance {
    /// The share that processes used which are neither this one nor its descendants.
    pub others: f64,
    /// The share that the hypervisor gave to other machines.
    pub stolen: f64,
    /// The time for which threads of this process and of its descendants were runnable without a CPU. More than 1 if several waited.
    pub queued: f64,
}

impl Disturbance {
    /// Does some work, and returns what disturbed the machine meanwhile.
    pub fn during<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let begun = Instant::now();
        let then = (Ticks::now(), OwnProcesses::now());
        let (end, ended) = mpsc::channel::<()>();
        let first = then.1.clone();
        let waits = thread::spawn(move || {
            let (mut last, mut waited) = (first, Duration::ZERO);
            loop {
                let is_over = ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout);
                let now = OwnProcesses::now();
                waited += now.waited_since(&last);
                last = now;
                if is_over {
                    return waited;
                }
            }
        });
        let done = work();
        let now = (Ticks::now(), OwnProcesses::now());
        drop(end);
        let waited = waits.join().expect("looking at processes does not panic");
        let since = |of: fn(&Ticks) -> u64| of(&now.0).saturating_sub(of(&then.0)) as f64;
        let all = since(|ticks| ticks.all).max(1.0);
        let own = now.1.cpu_ticks().saturating_sub(then.1.cpu_ticks()) as f64;
        let cpus = thread::available_parallelism().map_or(1.0, |cpus| cpus.get() as f64);
        let disturbance = Self {
            others: (since(|ticks| ticks.used) - own).max(0.0) / all,
            stolen: since(|ticks| ticks.stolen) / all,
            queued: waited.as_secs_f64() / cpus / begun.elapsed().as_secs_f64().max(1e-3),
        };
        (done, disturbance)
    }

    /// Whether the disturbance can make a measurement wrong.
    pub fn counts(self) -> bool {
        let waits = self.queued >= QUEUED && self.others >= OTHERS_BESIDE_WAITS;
        self.others >= OTHERS || self.stolen >= STOLEN || waits
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [others, stolen, queued] = [self.others, self.stolen, self.queued].map(|share| share * 100.0);
        write!(
            f,
            "other programs used {others:.0}% of the machine's CPU time, the hypervisor took {stolen:.0}%, \
             the test's threads waited {queued:.0}% for a CPU"
        )
    }
}

/// The kernel's counters, in ticks since the machine's start.
struct Ticks {
    all: u64,
    used: u64,
    stolen: u64,
}

impl Ticks {
    fn now() -> Self {
        let cpu = procfs::KernelStats::current().expect("the kernel counts the time of its CPUs").total;
        let used = cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
        let stolen = cpu.steal.unwrap_or(0);
        Self { all: used + stolen + cpu.idle + cpu.iowait.unwrap_or(0), used, stolen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn busy_loop() -> Child {
        Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("there is a shell")
    }

    fn end(mut child: Child) {
        child.kill().and_then(|()| child.wait()).expect("a child can be ended");
    }

    #[test]
    fn a_process_of_the_test_is_no_disturbance_while_it_runs_nor_after_its_end() {
        let second = Duration::from_secs(1);
        let child = busy_loop();
        let own = || OwnProcesses::now().cpu_ticks();
        let before = own();
        thread::sleep(second);
        let running = own() - before;
        assert!(running > 5, "a running child's CPU time is the test's own: {running} ticks");
        end(child);
        let ended = own() - before;
        assert!(ended >= running, "a child's CPU time stays the test's own: {ended} ticks after {running}");
    }

    #[test]
    fn a_process_of_another_parent_is_one_of_the_others() {
        // A shell that ends at once leaves its child to another parent.
        let script = "while :; do :; done >/dev/null 2>&1 & echo $!";
        let left = Command::new("sh").args(["-c", script]).stderr(std::process::Stdio::null()).output();
        let pid = String::from_utf8(left.expect("there is a shell").stdout).expect("a number is text");
        let (_, disturbance) = Disturbance::during(|| thread::sleep(Duration::from_secs(1)));
        let killed = Command::new("kill").args(["-KILL", pid.trim()]).status().expect("there is kill");
        assert!(killed.success());
        let cpus = thread::available_parallelism().map_or(1, usize::from) as f64;
        // Where others want this machine's CPUs as well, the loop gets a part of one, and they have the rest.
        assert!(disturbance.others > 0.5 / cpus, "{disturbance}");
    }

    #[test]
    fn waits_for_a_cpu_count_only_beside_others() {
        let waits = |others| Disturbance { others, stolen: 0.0, queued: 0.5 };
        assert!(!waits(0.01).counts() && waits(0.06).counts());
        assert!(Disturbance { stolen: 0.03, ..Disturbance::default() }.counts());
        assert!(Disturbance { others: 0.2, ..Disturbance::default() }.counts());
        assert!(!Disturbance { others: 0.05, stolen: 0.01, queued: 0.0 }.counts());
    }
}
