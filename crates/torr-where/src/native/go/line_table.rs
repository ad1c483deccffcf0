//! Names, files and lines of a Go program by its table of functions (`.gopclntab`), which a stripped program has too.
//!
//! The layout is that of Go 1.20 and later (`runtime/symtab.go`, `runtime/symtabinl.go`). Where the table does not say for sure which
//! function an address belongs to, inlined ones included, it says nothing.

use super::semaphores::word;
use crate::native::memory::Memory;
use crate::native::object_file::{ObjectFile, section};
use object::{Object, ObjectSection};

/// The sections that have the table: that of most programs, and that of programs whose addresses are relocated.
const TABLE: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// The sections that may have the runtime's description of the program.
const MODULE: [&str; 4] = [".go.module", ".noptrdata", ".data.rel.ro", ".data"];
/// The most bytes of a section that are searched for the description.
const SEARCHED: u64 = 16 << 20;
/// The number that a table of Go 1.20 and later begins with.
const MAGIC: u32 = 0xffff_fff1;
/// Where the description has the address of the first function, the begin of the program's code, and that of data of functions, in bytes.
const FIRST: usize = 160;
const TEXT: usize = 176;
const FUNCTION_DATA: usize = 320;
/// The bytes of the description that are read.
const DESCRIPTION: usize = FUNCTION_DATA + 8;
/// The fixed part of a function's entry, in bytes.
const ENTRY: usize = 44;
/// The flag of a function that a stack begins with, and the byte of the entry that has it.
const TOP: u8 = 1;
const FLAGS: usize = 41;
/// The tables of a function that say which inlined call an address belongs to, and which calls these are.
const INLINED_AT: usize = 2;
const INLINED_CALLS: usize = 3;
/// The bytes of an inlined call.
const CALL: u64 = 16;
/// The most calls within each other that are inlined at one address.
const DEPTH: usize = 64;
/// The longest name or path, in bytes.
const TEXT_LENGTH: usize = 4096;

/// A function at an address, with its source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The function's name.
    pub function: String,
    /// The source file. `None` where it is unknown.
    pub file: Option<String>,
    /// The line. `None` where it is unknown.
    pub line: Option<u32>,
}

/// The table of functions of a program.
#[derive(Debug)]
pub struct LineTable {
    table: Vec<u8>,
    memory: Memory,
    /// The functions.
    count: usize,
    /// Where the parts of the table begin.
    names: usize,
    units: usize,
    files: usize,
    values: usize,
    functions: usize,
    /// The address of the program's code in the process, and that of data of functions.
    text: u64,
    function_data: u64,
}

/// A function's entry.
#[derive(Debug, Clone, Copy)]
struct Function {
    /// Where the entry begins in the table.
    at: usize,
    /// The address at which the function begins, and the one behind it, from the code's begin on.
    begin: u32,
    end: u32,
}

impl LineTable {
    /// Reads the table of a program. `None` if it has none, or one of another version.
    pub fn of(program: &ObjectFile, memory: Memory) -> Option<Self> {
        let (table, address, sections) = program.parse(|file| {
            let name = TABLE.into_iter().find(|name| file.section_by_name(name).is_some())?;
            let address = file.section_by_name(name)?.address();
            let ranges = MODULE.into_iter().filter_map(|name| file.section_by_name(name));
            let ranges: Vec<_> = ranges.map(|section| (section.address(), section.size())).collect();
            Some((section(file, name)?, address, ranges))
        })??;
        let has_layout = table.get(..4)? == MAGIC.to_le_bytes() && table.get(6..8)? == [1, 8];
        let part = |at: usize| usize::try_from(word(&table, 8 + at * 8)?).ok().filter(|&at| at <= table.len());
        let [names, units, files, values, functions] = [part(3)?, part(4)?, part(5)?, part(6)?, part(7)?];
        let count = part(0)?;
        let header = address.wrapping_add(program.bias);
        let is_description =
            |bytes: &[u8]| word(bytes, 0) == Some(header) && word(bytes, 8) == Some(header.wrapping_add(names as u64));
        let description = sections.into_iter().find_map(|(begin, size)| {
            let bytes = memory.bytes(begin.wrapping_add(program.bias), size.min(SEARCHED) as usize);
            let mut at = (0..bytes.len().saturating_sub(DESCRIPTION)).step_by(8);
            let at = at.find(|&at| is_description(&bytes[at..]))?;
            bytes.get(at..at + DESCRIPTION).map(<[u8]>::to_vec)
        })?;
        let (text, function_data) = (word(&description, TEXT)?, word(&description, FUNCTION_DATA)?);
        let this = Self { table, memory, count, names, units, files, values, functions, text, function_data };
        // The first function is where the description says that code begins.
        let begins = text.checked_add(this.number(functions)?.into())?;
        let is_whole = word(&description, FIRST)? == begins && program.addresses.contains(&function_data);
        (has_layout && is_whole).then_some(this)
    }

    /// Returns the functions at an address, the innermost first: several where functions were inlined. `None` where it is unknown.
    pub fn positions(&self, address: u64) -> Option<Vec<Position>> {
        let function = self.function(u32::try_from(address.checked_sub(self.text)?).ok()?)?;
        let mut at = u32::try_from(address - self.text).ok()?;
        let mut positions = Vec::new();
        while positions.len() < DEPTH {
            let inlined = self.inlined_at(function, at)?;
            let name = match inlined {
                Some((name, _)) => name,
                None => self.number(function.at + 4)?,
            };
            let (file, line) = self.line(function, at).unzip();
            positions.push(Position { function: self.text(self.names, name)?, file, line });
            match inlined {
                // An inlined call is called within the same function.
                Some((_, parent)) => at = function.begin.checked_add(parent).filter(|&at| at < function.end)?,
                None => return Some(positions),
            }
        }
        None
    }

    /// Returns how far above the stack pointer the return address is of code at this address. The outer `None` says that it is unknown, the
    /// inner one that a stack begins with the function.
    pub fn return_address(&self, address: u64) -> Option<Option<u64>> {
        let at = u32::try_from(address.checked_sub(self.text)?).ok()?;
        let function = self.function(at)?;
        if self.table.get(function.at + FLAGS)? & TOP != 0 {
            return Some(None);
        }
        let distance = self.value(self.number(function.at + 16)?, function.begin, at)?;
        u64::try_from(distance).ok().map(Some)
    }

    /// Returns the function of an address, counted from the code's begin.
    fn function(&self, at: u32) -> Option<Function> {
        let begin = |index: usize| self.number(self.functions.checked_add(index.checked_mul(8)?)?);
        let (mut low, mut high) = (0, self.count);
        if begin(0)? > at || begin(self.count)? <= at {
            return None;
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if begin(middle)? <= at { low = middle } else { high = middle }
        }
        let entry = self.number(self.functions + low * 8 + 4)?;
        let function =
            Function { at: self.functions.checked_add(entry as usize)?, begin: begin(low)?, end: begin(low + 1)? };
        (self.number(function.at)? == function.begin).then_some(function)
    }

    /// Returns the file and the line of an address in a function.
    fn line(&self, function: Function, at: u32) -> Option<(String, u32)> {
        let file = self.value(self.number(function.at + 20)?, function.begin, at)?;
        let line = self.value(self.number(function.at + 24)?, function.begin, at)?;
        let unit = self.number(function.at + 32)?.checked_add(u32::try_from(file).ok()?)?;
        let path = self.number(self.units.checked_add(unit as usize * 4)?)?;
        Some((self.text(self.files, path)?, u32::try_from(line).ok()?))
    }

    /// Returns the inlined call that an address belongs to: where its name is, and where it is called, from the function's begin on.
    /// The inner `None` says that the address is the function's own, the outer one that it is unknown.
    fn inlined_at(&self, function: Function, at: u32) -> Option<Option<(u32, u32)>> {
        let tables = self.number(function.at + 28)? as usize;
        if tables <= INLINED_AT {
            return Some(None);
        }
        let index = match self.number(function.at + ENTRY + INLINED_AT * 4)? {
            0 => -1,
            table => self.value(table, function.begin, at)?,
        };
        let Ok(index) = u64::try_from(index) else { return Some(None) };
        let count = usize::from(*self.table.get(function.at + ENTRY - 1)?);
        let data = self.number(function.at + ENTRY + tables.checked_add(INLINED_CALLS)?.checked_mul(4)?)?;
        if count <= INLINED_CALLS || data == u32::MAX {
            return None;
        }
        let mut call = [0; CALL as usize];
        let call_at = self.function_data.wrapping_add(data.into()).wrapping_add(index.wrapping_mul(CALL));
        self.memory.fill(call_at, &mut call)?;
        let [name, parent] = [4, 8].map(|at| u32::from_le_bytes([call[at], call[at + 1], call[at + 2], call[at + 3]]));
        // A name begins behind the end of another one: what is somewhere else is no name.
        let before = self.names.checked_add(name as usize)?.checked_sub(1)?;
        (name > 0 && self.table.get(before) == Some(&0)).then_some(Some((name, parent)))
    }

    /// Returns the value that a table of values has at an address of a function, both counted from the code's begin.
    fn value(&self, table: u32, begin: u32, target: u32) -> Option<i32> {
        let mut bytes = self.table.get(self.values.checked_add(table as usize)?..)?.iter();
        let mut next = || {
            let mut value = 0_u32;
            for shift in (0..32).step_by(7) {
                let byte = *bytes.next()?;
                value |= u32::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return Some(value);
                }
            }
            None
        };
        let (mut address, mut value) = (begin, -1_i32);
        loop {
            let change = next()?;
            if change == 0 && address != begin {
                return None;
            }
            value = value.wrapping_add((change >> 1).cast_signed() ^ -((change & 1).cast_signed()));
            address = address.checked_add(next()?)?;
            if target < address {
                return Some(value);
            }
        }
    }

    /// Returns the number of four bytes at a position of the table.
    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.table.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    /// Returns the text at a position of a part of the table.
    fn text(&self, part: usize, at: u32) -> Option<String> {
        let bytes = self.table.get(part.checked_add(at as usize)?..)?;
        let end = memchr::memchr(0, &bytes[..bytes.len().min(TEXT_LENGTH)])?;
        (end > 0).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}
