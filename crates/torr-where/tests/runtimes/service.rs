//! A service in a language with a runtime, and load for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use torr_where::runtime::{Permission, Reading, observe};
use torr_where::{Runtime, StackSample, WaitKind};

/// How long a test waits for samples on a machine that is busy otherwise.
const LONGEST: Duration = Duration::from_secs(60);

/// A process that is killed when this value is dropped.
struct KilledAtEnd(Child);

impl Drop for KilledAtEnd {
    fn drop(&mut self) {
        // Where the process has ended already there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A service that runs, and its port.
pub struct Service {
    child: KilledAtEnd,
    port: u16,
    /// The service may write more.
    _output: BufReader<ChildStdout>,
}

/// Returns the path of a service's source.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtimes/services").join(name)
}

impl Service {
    /// Starts a service, which writes its port in its first line.
    pub fn start(command: &mut Command) -> Self {
        let child: Child = command.stdout(Stdio::piped()).spawn().expect("the program is installed");
        let mut child = KilledAtEnd(child);
        let mut output = BufReader::new(child.0.stdout.take().expect("standard output is a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("the service writes its port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("the service writes its port: {line:?}"));
        Self { child, port, _output: output }
    }

    /// Returns the service's process.
    pub fn process(&self) -> i32 {
        i32::try_from(self.child.0.id()).expect("a process's number is positive")
    }

    /// Sends requests for a path over so many connections until the work is done.
    pub fn under_load<T>(&self, path: &str, connections: usize, work: impl FnOnce() -> T) -> T {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..connections {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        // A connection that the service closes is opened again.
                        let _ = self.connection(path, &stop);
                    }
                });
            }
            let ended = StopAtEnd(&stop);
            let result = work();
            drop(ended);
            result
        })
    }

    /// Sends requests over one connection until the load ends.
    fn connection(&self, path: &str, stop: &AtomicBool) -> std::io::Result<()> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port))?;
        connection.set_read_timeout(Some(LONGEST))?;
        let mut response = vec![0; 4096];
        while !stop.load(Ordering::Relaxed) {
            connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: torr\r\n\r\n").as_bytes())?;
            let mut length = 0;
            while !response[..length].ends_with(b"\r\n\r\nok") {
                match connection.read(&mut response[length..])? {
                    0 => return Ok(()),
                    read => length += read,
                }
            }
        }
        Ok(())
    }

    /// Observes the service under load until a reading is enough, and returns all samples until then.
    pub fn observe(
        &self,
        runtime: Runtime,
        path: &str,
        connections: usize,
        enough: impl Fn(&Reading) -> bool,
    ) -> Reading {
        let deadline = Instant::now() + LONGEST;
        let stop = AtomicBool::new(false);
        self.under_load(path, connections, || {
            let mut all = Reading::default();
            while !enough(&all) {
                assert!(Instant::now() < deadline, "there are too few samples: {all:?}");
                let reading = observe(self.process(), runtime, Permission::Asking, Duration::from_secs(2), &stop);
                assert_eq!(reading.unseen, None);
                all.cpu.extend(reading.cpu);
                all.rounds.extend(reading.rounds);
            }
            all
        })
    }
}

/// Ends the load also where the work panics.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the share of the samples' weight with this function as the innermost one of own code.
pub fn share(samples: &[StackSample], function: &str) -> f64 {
    let weight = |of: &dyn Fn(&StackSample) -> bool| {
        samples.iter().filter(|sample| of(sample)).map(|sample| sample.weight).sum::<f64>()
    };
    let is_in = |sample: &StackSample| sample.stack.own().is_some_and(|frame| frame.function == function);
    weight(&is_in) / weight(&|_| true)
}

/// Returns the samples that wait for a lock in this function as the innermost one of own code.
pub fn waiters<'a>(reading: &'a Reading, function: &str) -> Vec<&'a StackSample> {
    let is_one = |sample: &&StackSample| {
        let is_lock = sample
            .wait
            .as_ref()
            .is_some_and(|wait| wait.lock().is_some_and(|lock| lock.name.as_deref() != Some("GIL")));
        is_lock && sample.stack.own().is_some_and(|frame| frame.function == function)
    };
    reading.rounds.iter().flatten().filter(is_one).collect()
}

/// Returns how many samples wait in this way.
pub fn waits(reading: &Reading, is_wait: impl Fn(&WaitKind) -> bool) -> usize {
    reading.rounds.iter().flatten().filter(|sample| sample.wait.as_ref().is_some_and(&is_wait)).count()
}
