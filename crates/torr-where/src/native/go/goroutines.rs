//! All goroutines at one time: their states, stacks and waits.

use super::layout::Layout;
use super::semaphores::{Semaphores, word};
use super::waits::classify;
use crate::native::memory::Memory;
use crate::native::process::NativeProcess;
use crate::native::unwind::{Addresses, Registers, StackBytes};
use crate::stack::{Stack, StackSample, WaitKind};
use crate::unseen::{Remedy, Unseen, UnseenReason};
use std::collections::HashMap;
use std::sync::Arc;

/// The most goroutines that are sampled at one time: of more, every second, third and so on.
const GOROUTINES: usize = 2_000;
/// The most goroutines of a program.
const ALL: u64 = 4_000_000;
/// The most reasons to wait that the runtime has, and the longest text of one.
const REASONS: u64 = 128;
const REASON: u64 = 100;
/// The most reads of a stack by which it is recognised.
const READS: usize = 512;
/// States of a goroutine, in the runtime's numbers.
const RUNNABLE: u32 = 1;
const RUNNING: u32 = 2;
const IN_CALL: u32 = 3;
const WAITING: u32 = 4;
/// The bit of a state that says that the stack is being scanned.
const SCANNED: u32 = 0x1000;

/// A goroutine at one time, without names.
#[derive(Debug, Clone, PartialEq)]
pub struct RawGoroutine {
    number: u64,
    status: u32,
    reason: u8,
    semaphore: Option<u64>,
    addresses: Arc<Addresses>,
    weight: f64,
}

/// A goroutine's wait that was seen before.
#[derive(Debug)]
struct Known {
    registers: Registers,
    reads: Vec<(u64, u64)>,
    addresses: Arc<Addresses>,
}

/// The goroutines of a program.
#[derive(Debug)]
pub struct Goroutines {
    layout: Layout,
    semaphores: Option<Semaphores>,
    /// The address of the list of all goroutines.
    all: u64,
    reasons: Vec<String>,
    known: HashMap<u64, Known>,
}

impl Goroutines {
    /// Finds the goroutines of a program.
    ///
    /// # Errors
    /// What is not visible: a program without symbols or debug information.
    pub fn of(process: &mut NativeProcess) -> Result<Self, Unseen> {
        let stripped = process.unseen(UnseenReason::Stripped, vec![Remedy::Symbols]);
        let layout = process.program().and_then(Layout::of).ok_or_else(|| stripped.clone())?;
        let (all, _) = process.variable("runtime.allgs").ok_or_else(|| stripped.clone())?;
        let (reasons, size) = process.variable("runtime.waitReasonStrings").ok_or(stripped)?;
        let semaphores = process.variable("runtime.semtable").and_then(|(address, size)| Semaphores::at(address, size));
        let memory = process.memory;
        let reason = |at: u64| {
            let (text, length) =
                (memory.u64(reasons.wrapping_add(at * 16))?, memory.u64(reasons.wrapping_add(at * 16 + 8))?);
            let bytes = memory.bytes(text, length.min(REASON) as usize);
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let reasons = (0..(size / 16).min(REASONS)).map(|at| reason(at).unwrap_or_default()).collect();
        Ok(Self { layout, semaphores, all, reasons, known: HashMap::new() })
    }

    /// Reads all goroutines that are alive.
    pub fn sample(&mut self, process: &mut NativeProcess) -> Vec<RawGoroutine> {
        let memory = process.memory;
        let (Some(list), Some(count)) = (memory.u64(self.all), memory.u64(self.all.wrapping_add(8))) else {
            return Vec::new();
        };
        let list = memory.bytes(list, (count.min(ALL) * 8) as usize);
        let goroutines: Vec<u64> = list.chunks_exact(8).filter_map(|bytes| word(bytes, 0)).collect();
        let step = goroutines.len().div_ceil(GOROUTINES).max(1);
        let semaphores = self.semaphores.map(|table| table.read(memory, &self.layout)).unwrap_or_default();
        if self.known.len() > 4 * GOROUTINES {
            self.known.clear();
        }
        let mut found = Vec::new();
        for &address in goroutines.iter().step_by(step) {
            if let Some(one) = self.read(process, memory, address, &semaphores) {
                found.push(RawGoroutine { weight: step as f64, ..one });
            }
        }
        found
    }

    fn read(
        &mut self,
        process: &mut NativeProcess,
        memory: Memory,
        address: u64,
        semaphores: &HashMap<u64, u64>,
    ) -> Option<RawGoroutine> {
        let layout = self.layout;
        let before = memory.bytes(address, layout.size);
        let status = |bytes: &[u8]| {
            Some(u32::from_ne_bytes(bytes.get(layout.status..layout.status + 4)?.try_into().ok()?) & !SCANNED)
        };
        let state = status(&before)?;
        let number = word(&before, layout.number)?;
        let one = RawGoroutine {
            number,
            status: state,
            reason: *before.get(layout.reason)?,
            semaphore: semaphores.get(&address).copied(),
            addresses: Arc::new(Addresses::default()),
            weight: 1.0,
        };
        let saved = match state {
            RUNNABLE | RUNNING => return Some(one),
            WAITING => layout.saved,
            IN_CALL => layout.in_call.unwrap_or(layout.saved),
            // Neither alive nor doing anything.
            _ => return None,
        };
        let [sp, pc, fp] = saved.map(|at| word(&before, at));
        let registers = Registers { pc: pc?, sp: sp?, fp };
        let mut bytes = StackBytes::of_memory(memory, registers.sp);
        let is_known = |known: &Known, bytes: &mut StackBytes<'_>| {
            known.registers == registers && known.reads.iter().all(|&(at, value)| bytes.word(at) == Some(value))
        };
        let addresses = match self.known.get(&address) {
            Some(known) if is_known(known, &mut bytes) => Arc::clone(&known.addresses),
            _ => {
                let addresses = Arc::new(process.follow_bytes(registers, &mut bytes));
                let reads = bytes.reads();
                if reads.len() <= READS {
                    self.known.insert(address, Known { registers, reads, addresses: Arc::clone(&addresses) });
                }
                addresses
            }
        };
        // With the same state and stack pointer after as before, the goroutine waited all the while.
        let after = memory.bytes(address, layout.size);
        let is_same = status(&after) == Some(state) && saved.map(|at| word(&after, at)) == [sp, pc, fp];
        (is_same && word(&after, layout.number) == Some(number)).then_some(RawGoroutine { addresses, ..one })
    }

    /// Names the stacks of goroutines, and finds out what they wait for.
    pub fn resolve(&self, process: &mut NativeProcess, raw: &[RawGoroutine]) -> Vec<StackSample> {
        let sample = |one: &RawGoroutine| {
            let on_cpu = matches!(one.status, RUNNABLE | RUNNING);
            let stack = if on_cpu { Stack::default() } else { process.name_stack(&one.addresses) };
            let reason = self.reasons.get(usize::from(one.reason)).map_or("", String::as_str);
            let mut wait = match one.status {
                WAITING => Some(classify(reason, one.semaphore, &stack.0)),
                IN_CALL => Some(WaitKind::File),
                _ => None,
            };
            if let Some(WaitKind::Lock(lock)) = &mut wait {
                lock.name = process.name_of_data(lock.address);
            }
            // The runtime's own goroutines have nothing to do with requests.
            if !on_cpu && !stack.0.iter().any(|frame| frame.is_own) && wait != Some(WaitKind::Sleep) {
                wait = Some(wait.filter(|wait| wait.lock().is_some()).unwrap_or(WaitKind::Idle));
            }
            StackSample {
                process: process.process,
                thread: one.number,
                on_cpu,
                wait,
                holds: Vec::new(),
                stack,
                weight: one.weight,
            }
        };
        raw.iter().map(sample).collect()
    }
}
