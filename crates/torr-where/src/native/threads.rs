//! What the threads of a process do at one time: their system calls and stacks, without names, as fast as they can be read.

use super::memory::Memory;
use super::sockets::Sockets;
use super::syscall::{Call, Doing, ThreadFile};
use super::unwind::{Addresses, Registers, StackBytes, Unwinder};
use super::waits::{Wait, classify, descriptor};
use crate::stack::{Frame, WaitKind};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most threads of a process that are sampled.
const THREADS: usize = 2_000;
/// The time after which the list of threads is read again.
const LIST: Duration = Duration::from_millis(250);
/// The most reads of a stack by which it is recognised.
const READS: usize = 512;

/// What a thread did at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct RawSample {
    /// The thread.
    pub thread: i32,
    /// The thread's number as the process itself knows it, in its PID namespace.
    pub inner: u32,
    /// Whether the thread computes, or could if a CPU were free.
    pub is_running: bool,
    /// The system call that the thread waits in.
    pub call: Option<Call>,
    /// The stack. Empty of a thread that computes.
    pub addresses: Arc<Addresses>,
    /// The numbers in memory from the call's first argument on: a lock's state, if the argument is one.
    words: [u32; 6],
    /// What the descriptor leads to that the thread waits for.
    descriptor: Option<WaitKind>,
}

impl RawSample {
    /// Classifies what the thread waits for, given the frames of its stack. `None` of a thread that computes.
    pub fn wait(&self, frames: &[Arc<Frame>]) -> Option<Wait> {
        match (&self.call, &self.descriptor) {
            _ if self.is_running => None,
            (_, Some(kind)) => Some(kind.clone().into()),
            (Some(call), None) => Some(classify(call, &self.words, frames)),
            (None, None) => Some(WaitKind::Other.into()),
        }
    }
}

/// A thread under observation.
#[derive(Debug)]
struct Thread {
    file: ThreadFile,
    inner: u32,
    last: Option<Known>,
}

/// A wait that was seen before: with the same call and the same values on the stack it is the same.
#[derive(Debug)]
struct Known {
    call: Call,
    reads: Vec<(u64, u64)>,
    addresses: Arc<Addresses>,
}

/// The threads of a process.
#[derive(Debug)]
pub struct Threads {
    process: i32,
    threads: BTreeMap<i32, Thread>,
    read: Option<Instant>,
    /// What descriptors lead to.
    pub sockets: Sockets,
}

impl Threads {
    /// Returns the threads of a process. None is known yet.
    pub fn of(process: i32) -> Self {
        Self { process, threads: BTreeMap::new(), read: None, sockets: Sockets::default() }
    }

    /// Returns the threads that are known.
    pub fn numbers(&self) -> impl Iterator<Item = i32> + '_ {
        self.threads.keys().copied()
    }

    /// Takes up new threads and forgets those that have ended, from time to time.
    ///
    /// # Errors
    /// Those of [`Self::refresh`].
    pub fn refresh_if_due(&mut self) -> io::Result<()> {
        if self.read.is_none_or(|read| read.elapsed() >= LIST) { self.refresh() } else { Ok(()) }
    }

    /// Takes up new threads and forgets those that have ended.
    ///
    /// # Errors
    /// Those of reading `/proc`: without the right, or of a process that has ended.
    pub fn refresh(&mut self) -> io::Result<()> {
        self.read = Some(Instant::now());
        let mut found: Vec<i32> = fs::read_dir(format!("/proc/{}/task", self.process))?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .take(THREADS)
            .collect();
        found.sort_unstable();
        self.threads.retain(|thread, _| found.binary_search(thread).is_ok());
        for thread in found {
            if self.threads.contains_key(&thread) {
                continue;
            }
            match ThreadFile::open(self.process, thread) {
                Ok(file) => {
                    let inner = inner(self.process, thread);
                    self.threads.insert(thread, Thread { file, inner, last: None });
                }
                Err(error) if is_refused(&error) => return Err(error),
                // The thread has ended.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Samples all threads.
    ///
    /// # Errors
    /// Those of reading `/proc` without the right.
    pub fn sample(&mut self, memory: Memory, unwinder: &mut Unwinder) -> io::Result<Vec<RawSample>> {
        let mut samples = Vec::with_capacity(self.threads.len());
        let mut ended = Vec::new();
        for (&number, thread) in &mut self.threads {
            match sample(self.process, number, thread, memory, unwinder, &mut self.sockets) {
                Ok(Some(sample)) => samples.push(sample),
                Ok(None) => {}
                Err(error) if is_refused(&error) => return Err(error),
                Err(_) => ended.push(number),
            }
        }
        ended.iter().for_each(|thread| drop(self.threads.remove(thread)));
        Ok(samples)
    }
}

/// Samples a thread. `None` if its state changed while its stack was read.
fn sample(
    process: i32,
    number: i32,
    thread: &mut Thread,
    memory: Memory,
    unwinder: &mut Unwinder,
    sockets: &mut Sockets,
) -> io::Result<Option<RawSample>> {
    let nothing = Arc::new(Addresses::default());
    let mut sample = RawSample {
        thread: number,
        inner: thread.inner,
        is_running: false,
        call: None,
        addresses: nothing,
        words: [0; 6],
        descriptor: None,
    };
    let call = match thread.file.read()? {
        Doing::Runs => {
            sample.is_running = true;
            return Ok(Some(sample));
        }
        Doing::Blocked => return Ok(Some(sample)),
        Doing::Waits(call) => call,
    };
    sample.call = Some(call);
    let mut bytes = StackBytes::of_memory(memory, call.sp);
    let is_known = |known: &Known, bytes: &mut StackBytes<'_>| {
        known.call == call && known.reads.iter().all(|&(address, value)| bytes.word(address) == Some(value))
    };
    match &thread.last {
        Some(known) if is_known(known, &mut bytes) => sample.addresses = Arc::clone(&known.addresses),
        _ => {
            let addresses = unwinder.follow(Registers { pc: call.pc, sp: call.sp, fp: None }, &mut bytes);
            sample.addresses = Arc::new(addresses);
            let reads = bytes.reads();
            let known = Known { call, reads, addresses: Arc::clone(&sample.addresses) };
            thread.last = (known.reads.len() <= READS).then_some(known);
        }
    }
    if call.number == libc::SYS_futex {
        let mut bytes = [0; 24];
        if memory.read(call.arguments[0], &mut bytes).is_ok() {
            for (word, four) in sample.words.iter_mut().zip(bytes.as_chunks().0) {
                *word = u32::from_ne_bytes(*four);
            }
        }
    } else {
        sample.descriptor = descriptor(process, memory, &call, sockets);
    }
    // With the same call after as before, the thread slept all the while.
    Ok((thread.file.read()? == Doing::Waits(call)).then_some(sample))
}

/// Returns a thread's number in its own PID namespace.
fn inner(process: i32, thread: i32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/task/{thread}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok()).unwrap_or(thread as u32)
}

/// Returns whether an error is a missing right.
pub fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES))
}
