//! A native process under observation: its code, its threads, and the names of what they do.

use super::maps::{self, Mapping};
use super::memory::Memory;
use super::names::Names;
use super::object_file::ObjectFile;
use super::symbols::DataSymbols;
use super::threads::{RawSample, Threads, is_refused};
use super::unwind::{Addresses, Registers, StackBytes, Unwinder};
use crate::stack::{LockId, Stack, StackSample, WaitKind};
use crate::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// The time after which the mappings are read again.
const MAPPINGS: Duration = Duration::from_secs(2);
/// The most different stacks whose names are kept.
const STACKS: usize = 20_000;

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
    threads: Threads,
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
        // Code is readable wherever memory is; a heap may be reserved without being so.
        if let Some(first) = mappings.iter().find(|mapping| mapping.is_executable && mapping.inode != 0) {
            memory.read(first.addresses.start, &mut [0; 8]).map_err(|error| unseen(&error))?;
        }
        let objects = objects(process, &mappings);
        let mut names = Names::of(process);
        names.read_compiled();
        let mut this = Self {
            process,
            name,
            memory,
            unwinder: unwinder(&objects, memory),
            objects,
            started,
            anonymous: Vec::new(),
            code: Vec::new(),
            names,
            threads: Threads::of(process),
            mappings_read: Instant::now(),
            data: HashMap::new(),
            stacks: HashMap::new(),
            followed: (0, 0),
        };
        this.take_mappings(mappings);
        this.threads.refresh().map_err(|error| self::unseen(process, &this.name, &error))?;
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
        self.threads.numbers()
    }

    /// Returns the share of stacks that were followed to the thread's begin.
    pub fn complete_share(&self) -> f64 {
        if self.followed.0 == 0 { 1.0 } else { self.followed.1 as f64 / self.followed.0 as f64 }
    }

    /// Returns the peer of a socket that a thread waits for.
    pub fn peer(&self, inode: u64) -> Option<&str> {
        self.threads.sockets.peer(inode)
    }

    /// Samples what all threads do now, without names.
    ///
    /// # Errors
    /// What is not visible, if the threads cannot be read.
    pub fn sample_raw(&mut self) -> Result<Vec<RawSample>, Unseen> {
        let read = self.threads.sample(self.memory, &mut self.unwinder);
        read.map_err(|error| unseen(self.process, &self.name, &error))
    }

    /// Takes up new threads and mappings from time to time.
    ///
    /// # Errors
    /// What is not visible, once the process has ended or was replaced.
    pub fn check_alive(&mut self) -> Result<(), Unseen> {
        if started(self.process) != Some(self.started) {
            return Err(self.unseen(UnseenReason::Ended, Vec::new()));
        }
        self.refresh().map_err(|error| unseen(self.process, &self.name, &error))
    }

    /// Samples what all threads do now. A thread that computes has no frames.
    ///
    /// # Errors
    /// Those of [`Self::check_alive`] and [`Self::sample_raw`].
    pub fn sample(&mut self) -> Result<Vec<StackSample>, Unseen> {
        self.check_alive()?;
        let raw = self.sample_raw()?;
        Ok(self.resolve(&raw))
    }

    /// Names the stacks of samples that were taken at one time, and finds out what the threads wait for and which of them hold locks.
    pub fn resolve(&mut self, raw: &[RawSample]) -> Vec<StackSample> {
        let mut owners: Vec<(LockId, u32)> = Vec::new();
        let mut samples = Vec::with_capacity(raw.len());
        for one in raw {
            let stack = self.name_stack(&one.addresses);
            self.followed.0 += u64::from(one.call.is_some());
            self.followed.1 += u64::from(one.call.is_some() && one.addresses.is_complete);
            let mut wait = one.wait(&stack.0);
            if let Some(WaitKind::Lock(lock)) = wait.as_mut().map(|wait| &mut wait.kind) {
                if lock.name.is_none() {
                    lock.name = self.name_of_data(lock.address);
                }
                if let Some(owner) = wait.as_ref().and_then(|wait| wait.owner) {
                    let lock = wait.as_ref().and_then(|wait| wait.kind.lock()).cloned();
                    owners.extend(lock.map(|lock| (lock, owner)));
                }
            }
            samples.push(StackSample {
                process: self.process,
                thread: one.thread as u64,
                on_cpu: one.is_running,
                wait: wait.map(|wait| wait.kind),
                holds: Vec::new(),
                stack,
                weight: 1.0,
            });
        }
        owners.sort_unstable();
        owners.dedup();
        for (sample, one) in samples.iter_mut().zip(raw) {
            let held = owners.iter().filter(|(_, owner)| *owner == one.inner).map(|(lock, _)| lock.clone());
            sample.holds.extend(held);
        }
        samples
    }

    /// Follows a stack that the kernel copied.
    pub fn follow(&mut self, registers: Registers, copied: &[u8]) -> Addresses {
        let addresses = self.unwinder.follow(registers, &mut StackBytes::copied(registers.sp, copied));
        self.followed.0 += 1;
        self.followed.1 += u64::from(addresses.is_complete);
        addresses
    }

    /// Follows a stack in memory, such as that of a task that does not run.
    pub fn follow_bytes(&mut self, registers: Registers, bytes: &mut StackBytes<'_>) -> Addresses {
        self.unwinder.follow(registers, bytes)
    }

    /// Names the frames of a stack.
    pub fn name_stack(&mut self, addresses: &Addresses) -> Stack {
        if let Some(known) = self.stacks.get(addresses) {
            return known.clone();
        }
        let named = |&address: &u64| self.names.frames(address, &self.objects, &self.anonymous).to_vec();
        let stack = Stack(addresses.frames.iter().flat_map(named).collect());
        if self.stacks.len() >= STACKS {
            self.stacks.clear();
        }
        self.stacks.insert(addresses.clone(), stack.clone());
        stack
    }

    /// Returns the name of the variable at an address: that of a static lock.
    pub fn name_of_data(&mut self, address: u64) -> Option<String> {
        let object = self.objects.iter().find(|object| {
            let at = address.wrapping_sub(object.bias);
            object.is_readable() && object.extent.contains(&at)
        })?;
        let symbols = self.data.entry(object.path.clone()).or_insert_with(|| DataSymbols::of(object));
        symbols.name_at(address.wrapping_sub(object.bias)).map(super::tidy::tidy_data)
    }

    /// Returns the address and the size of a variable of the program.
    pub fn variable(&mut self, name: &str) -> Option<(u64, u64)> {
        let program = self.objects.iter().find(|object| object.is_program)?;
        let symbols = self.data.entry(program.path.clone()).or_insert_with(|| DataSymbols::of(program));
        let (address, size) = symbols.variable(name)?;
        Some((address.wrapping_add(program.bias), size))
    }

    fn refresh(&mut self) -> io::Result<()> {
        self.threads.refresh_if_due()?;
        if self.mappings_read.elapsed() >= MAPPINGS {
            self.mappings_read = Instant::now();
            let mappings = maps::of(self.process)?;
            let code: Vec<_> =
                mappings.iter().filter(|mapping| mapping.is_executable && mapping.inode != 0).cloned().collect();
            if code != self.code {
                self.objects = objects(self.process, &mappings);
                self.unwinder = unwinder(&self.objects, self.memory);
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

    /// Returns that something of this process is not visible.
    pub fn unseen(&self, why: UnseenReason, remedies: Vec<Remedy>) -> Unseen {
        let runtime = if self.is_go() { Runtime::Go } else { Runtime::Native };
        Unseen { process: self.process, name: self.name.clone(), runtime, why, remedies }
    }
}

/// Returns the unwinder of a process's objects.
fn unwinder(objects: &[ObjectFile], memory: Memory) -> Unwinder {
    Unwinder::of(objects).of_go(objects.iter().find(|object| object.is_program), memory)
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

/// Returns when a process started. A later process with the same number started at another time.
fn started(process: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}

/// Returns why the memory of a process cannot be read, and which rights are missing.
fn unseen(process: i32, name: &str, error: &io::Error) -> Unseen {
    let of = |why, remedies| Unseen { process, name: name.to_owned(), runtime: Runtime::Native, why, remedies };
    if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENOENT)) {
        return of(UnseenReason::Ended, Vec::new());
    }
    if !is_refused(error) {
        return of(UnseenReason::Failed(error.to_string()), Vec::new());
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
    remedies.push(Remedy::Capability("CAP_SYS_PTRACE".to_owned()));
    of(UnseenReason::Memory, remedies)
}
