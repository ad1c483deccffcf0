//! Follows a stack from the leaf to the thread's begin, by unwind tables, and by frame pointers where there are none.

use super::go::LineTable;
use super::memory::Memory;
use super::object_file::{ObjectFile, section};
use crate::stack::FRAMES;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder as _};
use object::{Object, ObjectSection};
use std::collections::HashMap;

/// The bytes of a stack that are read at once.
const CHUNK: usize = 8 << 10;
/// The most bytes of a stack that are read.
const STACK: usize = 512 << 10;
/// The bytes above the stack pointer among which a frame pointer is searched.
const SEARCH: u64 = 2 << 10;

/// What stands for a frame pointer that is not known: no stack is there, and a zero would mean the stack's end.
const UNKNOWN: u64 = 8;
/// The longest distance of an address from the begin of its function.
const FUNCTION: u64 = 64 << 10;

/// The registers that a stack is followed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Registers {
    /// The program counter.
    pub pc: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer, or `None` where it is not known, as of a thread that waits in a system call.
    pub fp: Option<u64>,
}

/// A stack's addresses, the leaf first. The leaf is the program counter, the others are return addresses minus one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Addresses {
    /// The addresses.
    pub frames: Vec<u64>,
    /// Whether the stack was followed to the thread's begin.
    pub is_complete: bool,
}

/// The unwinder of a process.
pub struct Unwinder {
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
    code: Vec<std::ops::Range<u64>>,
    /// Where the frame pointer was found, relative to the stack pointer, by program counter and caller.
    frame_pointers: HashMap<(u64, u64), u64>,
    /// The table of functions of a Go program without tables for unwinding.
    line_table: Option<LineTable>,
}

impl std::fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinder").field("code", &self.code.len()).finish_non_exhaustive()
    }
}

impl Unwinder {
    /// Reads the unwind tables of these objects.
    pub fn of(objects: &[ObjectFile]) -> Self {
        let mut unwinder = UnwinderX86_64::new();
        for object in objects {
            let sections = object.parse(|file| {
                let range = |name: &str| {
                    let section = file.section_by_name(name)?;
                    Some(section.address()..section.address().saturating_add(section.size()))
                };
                ExplicitModuleSectionInfo {
                    base_svma: 0,
                    text_svma: range(".text"),
                    got_svma: range(".got"),
                    eh_frame_svma: range(".eh_frame"),
                    eh_frame: section(file, ".eh_frame"),
                    eh_frame_hdr_svma: range(".eh_frame_hdr"),
                    eh_frame_hdr: section(file, ".eh_frame_hdr"),
                    debug_frame: section(file, ".debug_frame"),
                    ..Default::default()
                }
            });
            if let Some(sections) = sections {
                unwinder.add_module(Module::new(object.path.clone(), object.addresses.clone(), object.bias, sections));
            }
        }
        let code = objects.iter().flat_map(|object| object.code.iter().map(|code| code.addresses.clone())).collect();
        Self { unwinder, cache: CacheX86_64::new(), code, frame_pointers: HashMap::new(), line_table: None }
    }

    /// Reads the table of functions of a Go program that has no tables for unwinding.
    #[must_use]
    pub fn of_go(self, program: Option<&ObjectFile>, memory: Memory) -> Self {
        // Tables of C code that is linked in have nothing of Go's functions.
        let tables = [".debug_frame", ".zdebug_frame"];
        let has_none = |program: &ObjectFile| {
            program.parse(|file| tables.iter().all(|name| file.section_by_name(name).is_none())) == Some(true)
        };
        let is_without = |program: &&ObjectFile| program.is_go && has_none(program);
        Self { line_table: program.filter(is_without).and_then(|program| LineTable::of(program, memory)), ..self }
    }

    /// Follows a stack.
    pub fn follow(&mut self, registers: Registers, stack: &mut StackBytes<'_>) -> Addresses {
        let fp = registers.fp.unwrap_or(UNKNOWN);
        let found = self.follow_from(registers, fp, stack);
        if registers.fp.is_some() || found.is_complete {
            return found;
        }
        // The system call's wrapper does not change the frame pointer, so the tables of a caller may need one that is not known. The
        // stack as far as it was followed ends in that caller.
        let Some(&stopped) = found.frames.last() else { return found };
        let key = (registers.pc, stopped);
        let known = self.frame_pointers.get(&key).map(|distance| registers.sp.wrapping_add(*distance));
        let slots = || (0..SEARCH / 8).map(|slot| registers.sp.wrapping_add(slot * 8));
        // First the slots below a return address after a call of that very function, then those that look like a frame.
        for (candidate, is_sure) in
            known.into_iter().chain(slots()).map(|slot| (slot, true)).chain(slots().map(|slot| (slot, false)))
        {
            let is_one = match is_sure {
                true => self.is_called_below(candidate, stopped, stack),
                false => self.is_frame(candidate, stack),
            };
            if !is_one {
                continue;
            }
            let followed = self.follow_from(registers, candidate, stack);
            if followed.is_complete && followed.frames.len() > found.frames.len() {
                self.frame_pointers.insert(key, candidate.wrapping_sub(registers.sp));
                return followed;
            }
        }
        found
    }

    /// Returns whether a frame pointer to this address is plausible: a frame pointer of a caller, then a return address.
    fn is_frame(&self, candidate: u64, stack: &mut StackBytes<'_>) -> bool {
        let Some(saved) = stack.word(candidate) else { return false };
        let is_above = saved > candidate && saved - candidate < STACK as u64;
        (saved == 0 || saved == 1 || is_above)
            && stack.word(candidate.wrapping_add(8)).is_some_and(|address| self.is_code(address))
    }

    /// Returns whether the word after a candidate is the return address of a call of the function with this address.
    fn is_called_below(&self, candidate: u64, within: u64, stack: &mut StackBytes<'_>) -> bool {
        let Some(address) = stack.word(candidate.wrapping_add(8)).filter(|&address| self.is_code(address)) else {
            return false;
        };
        let Some(target) = stack.called_before(address) else { return false };
        target <= within && within - target < FUNCTION
    }

    /// Returns whether code is mapped at an address.
    fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|code| code.contains(&address))
    }

    /// Follows a stack by the sizes of frames that the Go runtime uses itself.
    fn follow_go(table: &LineTable, registers: Registers, stack: &mut StackBytes<'_>) -> Addresses {
        let (mut pc, mut sp) = (registers.pc, registers.sp);
        let mut frames = vec![pc];
        let is_complete = loop {
            if frames.len() >= FRAMES {
                break true;
            }
            let Some(distance) = table.return_address(pc) else { break false };
            let Some(distance) = distance else { break true };
            let at = sp.wrapping_add(distance);
            let Some(address) = stack.word(at).filter(|&address| address > 0) else { break false };
            (pc, sp) = (address - 1, at.wrapping_add(8));
            frames.push(pc);
        };
        if !is_complete && frames.len() > 1 {
            // What stands where the last function is not known is no return address.
            frames.pop_if(|last| table.return_address(*last).is_none());
        }
        Addresses { frames, is_complete }
    }

    fn follow_from(&mut self, registers: Registers, fp: u64, stack: &mut StackBytes<'_>) -> Addresses {
        if let Some(table) = self.line_table.as_ref().filter(|table| table.return_address(registers.pc).is_some()) {
            return Self::follow_go(table, registers, stack);
        }
        let start = UnwindRegsX86_64::new(registers.pc, registers.sp, fp);
        let mut read = |address| stack.word(address).ok_or(());
        let mut iterator = self.unwinder.iter_frames(registers.pc, start, &mut self.cache, &mut read);
        let mut frames = Vec::with_capacity(16);
        let is_complete = loop {
            match iterator.next() {
                Ok(Some(FrameAddress::InstructionPointer(address))) => frames.push(address),
                Ok(Some(FrameAddress::ReturnAddress(address))) => {
                    let address = address.get() - 1;
                    if !self.code.iter().any(|code| code.contains(&address)) {
                        // Code that a JIT made is followed by frame pointers; what is no code at all ends the stack.
                        break false;
                    }
                    frames.push(address);
                }
                Ok(None) => break true,
                Err(_) => break false,
            }
            if frames.len() >= FRAMES {
                break true;
            }
        };
        Addresses { frames, is_complete }
    }

    /// Adds ranges of code without a file, such as a JIT compiler's.
    pub fn add_code(&mut self, ranges: impl IntoIterator<Item = std::ops::Range<u64>>) {
        self.code.extend(ranges);
    }
}

/// The bytes of a stack from its stack pointer on.
#[derive(Debug)]
pub struct StackBytes<'a> {
    begin: u64,
    bytes: Vec<u8>,
    /// What the kernel copied, instead of `bytes`.
    copied: Option<&'a [u8]>,
    /// Where more of the stack can be read.
    memory: Option<Memory>,
    /// What was read of it: addresses and their values.
    reads: Vec<(u64, u64)>,
}

impl<'a> StackBytes<'a> {
    /// Returns the stack of a thread that waits, which is read as it is needed.
    pub fn of_memory(memory: Memory, sp: u64) -> Self {
        let begin = sp & !7;
        Self { begin, bytes: memory.bytes(begin, CHUNK), copied: None, memory: Some(memory), reads: Vec::new() }
    }

    /// Returns a stack that the kernel copied.
    pub fn copied(sp: u64, bytes: &'a [u8]) -> Self {
        Self { begin: sp, bytes: Vec::new(), copied: Some(bytes), memory: None, reads: Vec::new() }
    }

    /// Returns what the call before a return address calls: directly, or by a number in the table of addresses (GOT).
    fn called_before(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 6];
        self.memory?.fill(address.wrapping_sub(6), &mut bytes)?;
        let [first, second, distance @ ..] = bytes;
        let near = address.wrapping_add_signed(i64::from(i32::from_le_bytes(distance)));
        match (first, second) {
            (_, 0xe8) => Some(near),
            (0xff, 0x15) => self.memory?.u64(near),
            _ => None,
        }
    }

    /// Returns all addresses that were read with their values: a stack with the same registers and values is the same stack.
    pub fn reads(self) -> Vec<(u64, u64)> {
        self.reads
    }

    /// Returns the number at an address, or `None` outside of the stack.
    pub fn word(&mut self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.begin)?).ok()?;
        let end = at.checked_add(8)?;
        if let Some(memory) = self.memory
            && end > self.bytes.len()
            && end <= STACK
        {
            let missing = (end - self.bytes.len()).next_multiple_of(CHUNK);
            self.bytes.extend(memory.bytes(self.begin.wrapping_add(self.bytes.len() as u64), missing));
        }
        let bytes = self.copied.unwrap_or(&self.bytes).get(at..end)?;
        let value = u64::from_ne_bytes(bytes.try_into().expect("a slice of eight bytes is an array of eight"));
        if self.memory.is_some() {
            self.reads.push((address, value));
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_at_the_end_of_the_addresses_are_no_stack() {
        let memory = Memory::of(std::process::id() as i32);
        let mut unwinder = Unwinder::of(&[]);
        for sp in [u64::MAX, u64::MAX - 15, u64::MAX - SEARCH] {
            for fp in [None, Some(u64::MAX)] {
                let found = unwinder.follow(Registers { pc: 0x1000, sp, fp }, &mut StackBytes::of_memory(memory, sp));
                assert_eq!(found.frames, [0x1000]);
            }
        }
    }
}
