//! A native process under observation: its code, its threads, and a sample of what all of them wait in.

use super::maps::{self, Mapping};
use super::memory::Memory;
use super::names::Names;
use super::object_file::ObjectFile;
use super::sockets::Sockets;
use super::symbols::DataSymbols;
use super::syscall::{Call, Doing, ThreadFile};
use super::unwind::{Addresses, Registers, StackBytes, Unwinder};
use super::waits::{Wait, classify};
use crate::stack::{LockId, Stack, StackSample, WaitKind};
use crate::unseen::{Remedy, Runtime, Unseen, Why};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// The most threads of a process that are sampled.
const THREADS: usize = 2_000;
/// The time after which the list of threads is read again.
const THREAD_LIST: Duration = Duration::from_millis(250);
/// The time after which the mappings are read again.
const MAPPINGS: Duration = Duration::from_secs(2);
/// The most different stacks whose names are kept.
const STACKS: usize = 20_000;
/// The most reads of a stack by which it is recognised.
const READS: usize = 512;

/// A thread under observation.
#[derive(Debug)]
struct Thread {
    file: ThreadFile,
    /// The thread's number as the process itself knows it, in its PID namespace.
    inner: u32,
    last: Option<Known>,
}

/// A wait that was seen before: with the same call and the same values on the stack it is the same.
#[derive(Debug, Clone)]
struct Known {
    call: Call,
    reads: Vec<(u64, u64)>,
    stack: Stack,
    wait: Wait,
}

/// A native process.
#[derive(Debug)]
pub struct NativeProcess {
    /// The process's number.
    pub process: i32,
    /// The process's name.
    pub name: String,
    /// The process's memory.
    pub memory: Memory,
    /// The program and the libraries.
    pub objects: Vec<ObjectFile>,
    started: u64,
    anonymous: Vec<Mapping>,
    code: Vec<Mapping>,
    unwinder: Unwinder,
    names: Names,
    sockets: Sockets,
    threads: BTreeMap<i32, Thread>,
    threads_read: Option<Instant>,
    mappings_read: Instant,
    data: HashMap<String, DataSymbols>,
    stacks: HashMap<Addresses, Stack>,
    /// How many stacks were followed, and how many of them to their begin.
    followed: (u64, u64),
}

impl NativeProcess {
    /// Opens a process.
    ///
    /// # Errors
    /// What is not visible, if the process's memory cannot be read at all.
    pub fn open(process: i32) -> Result<Self, Unseen> {
        let name = name_of(process);
        let unseen = |error: &io::Error| unseen(process, &name, error);
        let mappings = maps::of(process).map_err(|error| unseen(&error))?;
        let started = started(process).ok_or_else(|| unseen(&io::Error::from_raw_os_error(libc::ESRCH)))?;
        let memory = Memory::of(process);
        if let Some(first) = mappings.first() {
            memory.read(first.addresses.start, &mut [0; 8]).map_err(|error| unseen(&error))?;
        }
        let objects = objects(process, &mappings);
        let mut names = Names::of(process);
        names.read_compiled();
        let mut this = Self {
            process,
            name,
            memory,
            unwinder: Unwinder::of(&objects),
            objects,
            started,
            anonymous: Vec::new(),
            code: Vec::new(),
            names,
            sockets: Sockets::default(),
            threads: BTreeMap::new(),
            threads_read: None,
            mappings_read: Instant::now(),
            data: HashMap::new(),
            stacks: HashMap::new(),
            followed: (0, 0),
        };
        this.take_mappings(mappings);
        this.find_threads().map_err(|error| self::unseen(process, &this.name, &error))?;
        Ok(this)
    }

    /// Returns whether the program is a Go program.
    pub fn is_go(&self) -> bool {
        self.objects.iter().any(|object| object.is_program && object.is_go)
    }

    /// Returns the program's object.
    pub fn program(&self) -> Option<&ObjectFile> {
        self.objects.iter().find(|object| object.is_program)
    }

    /// Returns the threads that are known.
    pub fn threads(&self) -> impl Iterator<Item = i32> + '_ {
        self.threads.keys().copied()
    }

    /// Returns the share of stacks that were followed to the thread's begin.
    pub fn complete_share(&self) -> f64 {
        if self.followed.0 == 0 { 1.0 } else { self.followed.1 as f64 / self.followed.0 as f64 }
    }

    /// Returns the peer of a socket that a thread waits for.
    pub fn peer(&self, inode: u64) -> Option<&str> {
        self.sockets.peer(inode)
    }

    /// Samples what all threads do now. A thread that computes has no frames.
    ///
    /// # Errors
    /// What is not visible, once the process has ended or its threads cannot be read.
    pub fn sample(&mut self) -> Result<Vec<StackSample>, Unseen> {
        if started(self.process) != Some(self.started) {
            return Err(self.unseen(Why::Ended, Vec::new()));
        }
        self.refresh().map_err(|error| unseen(self.process, &self.name, &error))?;
        let threads: Vec<i32> = self.threads.keys().copied().collect();
        let mut samples = Vec::with_capacity(threads.len());
        let mut owners: Vec<(LockId, u32)> = Vec::new();
        for thread in threads {
            match self.sample_thread(thread) {
                Ok(Some((sample, owner))) => {
                    if let Some((lock, owner)) = sample.wait.as_ref().and_then(WaitKind::lock).zip(owner)
                        && !owners.iter().any(|(known, _)| known == lock)
                    {
                        owners.push((lock.clone(), owner));
                    }
                    samples.push(sample);
                }
                Ok(None) => {}
                Err(error) if is_refused(&error) => return Err(unseen(self.process, &self.name, &error)),
                // The thread has ended.
                Err(_) => drop(self.threads.remove(&thread)),
            }
        }
        for sample in &mut samples {
            let inner = self.threads.get(&(sample.thread as i32)).map(|thread| thread.inner);
            let held = owners.iter().filter(|(_, owner)| Some(*owner) == inner).map(|(lock, _)| lock.clone());
            sample.holds.extend(held);
        }
        Ok(samples)
    }

    /// Samples a thread. `None` if its state changed while its stack was read.
    fn sample_thread(&mut self, thread: i32) -> io::Result<Option<(StackSample, Option<u32>)>> {
        let Some(watched) = self.threads.get(&thread) else { return Ok(None) };
        let sample = |on_cpu, wait, stack| StackSample {
            process: self.process,
            thread: thread as u64,
            on_cpu,
            wait,
            holds: Vec::new(),
            stack,
            weight: 1.0,
        };
        let call = match watched.file.read()? {
            Doing::Runs => return Ok(Some((sample(true, None, Stack::default()), None))),
            Doing::Blocked => return Ok(Some((sample(false, Some(WaitKind::Other), Stack::default()), None))),
            Doing::Waits(call) => call,
        };
        let mut bytes = StackBytes::of_memory(self.memory, call.sp);
        let known = watched.last.as_ref().filter(|known| known.call == call);
        if let Some(known) = known
            && known.reads.iter().all(|&(address, value)| bytes.word(address) == Some(value))
        {
            let owner = known.wait.owner_at.and_then(|at| self.memory.u32(at));
            let found = sample(false, Some(known.wait.kind.clone()), known.stack.clone());
            return Ok((watched.file.read()? == Doing::Waits(call)).then_some((found, owner)));
        }
        let addresses = self.unwinder.follow(Registers { pc: call.pc, sp: call.sp, fp: None }, &mut bytes);
        let Some(watched) = self.threads.get(&thread) else { return Ok(None) };
        if watched.file.read()? != Doing::Waits(call) {
            return Ok(None);
        }
        self.followed.0 += 1;
        self.followed.1 += u64::from(addresses.is_complete);
        let stack = self.name_stack(addresses);
        let mut wait = classify(self.process, self.memory, &call, &stack.0, &mut self.sockets);
        if let WaitKind::Lock(lock) = &mut wait.kind
            && lock.name.is_none()
        {
            lock.name = self.name_of_data(lock.address);
        }
        let owner = wait.owner_at.and_then(|at| self.memory.u32(at));
        let found = StackSample {
            process: self.process,
            thread: thread as u64,
            on_cpu: false,
            wait: Some(wait.kind.clone()),
            holds: Vec::new(),
            stack: stack.clone(),
            weight: 1.0,
        };
        let reads = bytes.reads();
        if let Some(watched) = self.threads.get_mut(&thread) {
            // A descriptor may be another one the next time: only other waits are recognised.
            let is_lasting = call.number == libc::SYS_futex && reads.len() <= READS;
            watched.last = is_lasting.then_some(Known { call, reads, stack, wait });
        }
        Ok(Some((found, owner)))
    }

    /// Follows a stack that the kernel copied, and names its frames.
    pub fn stack(&mut self, registers: Registers, copied: &[u8]) -> Stack {
        let addresses = self.unwinder.follow(registers, &mut StackBytes::copied(registers.sp, copied));
        self.followed.0 += 1;
        self.followed.1 += u64::from(addresses.is_complete);
        self.name_stack(addresses)
    }

    /// Follows a stack in memory, such as that of a task that does not run, and names its frames.
    pub fn stack_in_memory(&mut self, registers: Registers) -> Stack {
        let addresses = self.unwinder.follow(registers, &mut StackBytes::of_memory(self.memory, registers.sp));
        self.name_stack(addresses)
    }

    fn name_stack(&mut self, addresses: Addresses) -> Stack {
        if let Some(known) = self.stacks.get(&addresses) {
            return known.clone();
        }
        let named = |&address: &u64| self.names.frames(address, &self.objects, &self.anonymous).to_vec();
        let stack = Stack(addresses.frames.iter().flat_map(named).collect());
        if self.stacks.len() >= STACKS {
            self.stacks.clear();
        }
        self.stacks.insert(addresses, stack.clone());
        stack
    }

    /// Returns the name of the variable at an address: that of a static lock.
    fn name_of_data(&mut self, address: u64) -> Option<String> {
        let object = self.objects.iter().find(|object| {
            let at = address.wrapping_sub(object.bias);
            object.is_readable() && object.extent.contains(&at)
        })?;
        let symbols = self.data.entry(object.path.clone()).or_insert_with(|| DataSymbols::of(object));
        symbols.name_at(address.wrapping_sub(object.bias)).map(super::tidy::tidy_data)
    }

    /// Returns the address of a variable of the program.
    pub fn address_of_data(&mut self, name: &str) -> Option<u64> {
        let program = self.objects.iter().find(|object| object.is_program)?;
        let symbols = self.data.entry(program.path.clone()).or_insert_with(|| DataSymbols::of(program));
        Some(symbols.address_of(name)?.wrapping_add(program.bias))
    }

    fn refresh(&mut self) -> io::Result<()> {
        if self.threads_read.is_none_or(|read| read.elapsed() >= THREAD_LIST) {
            self.find_threads()?;
        }
        if self.mappings_read.elapsed() >= MAPPINGS {
            self.mappings_read = Instant::now();
            let mappings = maps::of(self.process)?;
            let code: Vec<_> =
                mappings.iter().filter(|mapping| mapping.is_executable && mapping.inode != 0).cloned().collect();
            if code != self.code {
                self.objects = objects(self.process, &mappings);
                self.unwinder = Unwinder::of(&self.objects);
                self.stacks.clear();
                self.take_mappings(mappings);
            }
        }
        Ok(())
    }

    fn take_mappings(&mut self, mappings: Vec<Mapping>) {
        self.code = mappings.iter().filter(|mapping| mapping.is_executable && mapping.inode != 0).cloned().collect();
        self.anonymous = mappings.into_iter().filter(|mapping| mapping.is_executable && mapping.inode == 0).collect();
        self.unwinder.add_code(self.anonymous.iter().map(|mapping| mapping.addresses.clone()));
    }

    /// Takes up new threads and forgets those that have ended.
    fn find_threads(&mut self) -> io::Result<()> {
        self.threads_read = Some(Instant::now());
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
                    drop(self.threads.insert(thread, Thread { file, inner: inner(self.process, thread), last: None }))
                }
                Err(error) if is_refused(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns that something of this process is not visible.
    pub fn unseen(&self, why: Why, remedies: Vec<Remedy>) -> Unseen {
        let runtime = if self.is_go() { Runtime::Go } else { Runtime::Native };
        Unseen { process: self.process, name: self.name.clone(), runtime, why, remedies }
    }
}

/// Groups mappings by their files.
fn objects(process: i32, mappings: &[Mapping]) -> Vec<ObjectFile> {
    let mut by_file: BTreeMap<(u64, &str), Vec<&Mapping>> = BTreeMap::new();
    for mapping in mappings.iter().filter(|mapping| mapping.inode != 0 || mapping.path == "[vdso]") {
        by_file.entry((mapping.inode, &mapping.path)).or_default().push(mapping);
    }
    by_file.values().filter_map(|mappings| ObjectFile::of(process, mappings)).collect()
}

/// Returns the name of a process.
fn name_of(process: i32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm"))
        .map_or_else(|_| process.to_string(), |name| name.trim_end().to_owned())
}

/// Returns when a process started, by which one with the same number is told from it.
fn started(process: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}

/// Returns a thread's number in its own PID namespace.
fn inner(process: i32, thread: i32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/task/{thread}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok()).unwrap_or(thread as u32)
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES))
}

/// Returns why the memory of a process cannot be read, and which rights are missing.
fn unseen(process: i32, name: &str, error: &io::Error) -> Unseen {
    let of = |why, remedies| Unseen { process, name: name.to_owned(), runtime: Runtime::Native, why, remedies };
    if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENOENT)) {
        return of(Why::Ended, Vec::new());
    }
    if !is_refused(error) {
        return of(Why::Failed { message: error.to_string() }, Vec::new());
    }
    let mut remedies = Vec::new();
    let scope =
        fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok().and_then(|text| text.trim().parse::<i64>().ok());
    let is_own = fs::metadata(format!("/proc/{process}"))
        .is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == rustix::process::geteuid().as_raw());
    if !is_own {
        remedies.push(Remedy::SameUser);
    }
    if scope.is_some_and(|scope| scope > 0) {
        remedies.push(Remedy::Sysctl { name: "kernel.yama.ptrace_scope".to_owned(), value: 0 });
    }
    remedies.push(Remedy::Capability { name: "CAP_SYS_PTRACE".to_owned() });
    of(Why::Memory, remedies)
}
