//! Where the fields of the Go runtime's structures are, by the program's debug information.

use crate::native::object_file::{ObjectFile, section};
use gimli::{DebuggingInformationEntry, Dwarf, EndianSlice, NativeEndian, SectionId, Unit};
use std::collections::HashMap;

/// The structures whose fields are used.
const STRUCTURES: [&str; 4] = ["runtime.g", "runtime.gobuf", "runtime.sudog", "runtime.semaRoot"];
/// The largest structure that is believed, in bytes.
const LARGEST: u64 = 64 << 10;

type Slice<'a> = EndianSlice<'a, NativeEndian>;

/// The offsets of the fields of a goroutine and of what it waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The size of a goroutine's structure.
    pub size: usize,
    /// The goroutine's number.
    pub number: usize,
    /// The state.
    pub status: usize,
    /// Why the goroutine waits.
    pub reason: usize,
    /// The saved stack pointer, program counter and frame pointer.
    pub saved: [usize; 3],
    /// The stack pointer, program counter and frame pointer with which the goroutine entered a system call.
    pub in_call: Option<[usize; 3]>,
    /// The root of a tree of waits in a bucket of semaphores.
    pub tree: usize,
    /// The goroutine of a wait.
    pub waiter: usize,
    /// The semaphore's address of a wait.
    pub semaphore: usize,
    /// The two branches of a wait.
    pub branches: [usize; 2],
    /// The next wait for the same semaphore.
    pub next: usize,
}

impl Layout {
    /// Reads the layout. `None` if the program has no debug information, or not the structures that are expected.
    pub fn of(program: &ObjectFile) -> Option<Self> {
        let sections = program.parse(|file| {
            [
                ".debug_info",
                ".debug_abbrev",
                ".debug_str",
                ".debug_line_str",
                ".debug_str_offsets",
                ".debug_addr",
                ".debug_rnglists",
                ".debug_line",
            ]
            .map(|name| (name, section(file, name).unwrap_or_default()))
        })?;
        let load = |id: SectionId| -> Result<Slice<'_>, gimli::Error> {
            let found = sections.iter().find(|(name, _)| *name == id.name());
            Ok(EndianSlice::new(found.map_or(&[][..], |(_, bytes)| bytes), NativeEndian))
        };
        let found = structures(&Dwarf::load(load).ok()?);
        let field = |structure: &str, field: &str| {
            let at = *found.get(structure)?.fields.get(field)?;
            usize::try_from(at).ok().filter(|&at| at < LARGEST as usize)
        };
        let saved = field("runtime.g", "sched")?;
        let of_saved = |name| Some(saved + field("runtime.gobuf", name)?);
        let of_call = |name| field("runtime.g", name);
        Some(Self {
            size: usize::try_from(found.get("runtime.g")?.size).ok().filter(|&size| size < LARGEST as usize)?,
            number: field("runtime.g", "goid")?,
            status: field("runtime.g", "atomicstatus")?,
            reason: field("runtime.g", "waitreason")?,
            saved: [of_saved("sp")?, of_saved("pc")?, of_saved("bp")?],
            in_call: of_call("syscallsp")
                .zip(of_call("syscallpc"))
                .zip(of_call("syscallbp"))
                .map(|((sp, pc), bp)| [sp, pc, bp]),
            tree: field("runtime.semaRoot", "treap")?,
            waiter: field("runtime.sudog", "g")?,
            semaphore: field("runtime.sudog", "elem")?,
            branches: [field("runtime.sudog", "prev")?, field("runtime.sudog", "next")?],
            next: field("runtime.sudog", "waitlink")?,
        })
    }
}

/// A structure's size and the offsets of its fields.
#[derive(Debug, Default)]
struct Structure {
    size: u64,
    fields: HashMap<String, u64>,
}

/// Finds the structures that are used.
fn structures(dwarf: &Dwarf<Slice<'_>>) -> HashMap<&'static str, Structure> {
    let mut found = HashMap::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let _ = of_unit(dwarf, &unit, &mut found);
        if found.len() == STRUCTURES.len() {
            break;
        }
    }
    found
}

fn of_unit(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    found: &mut HashMap<&'static str, Structure>,
) -> Result<(), gimli::Error> {
    let mut entries = unit.entries();
    // The structure whose members are being read, and its depth.
    let mut open: Option<(&'static str, isize)> = None;
    while let Some(entry) = entries.next_dfs()? {
        if open.is_some_and(|(_, depth)| entry.depth() <= depth) {
            open = None;
        }
        match (entry.tag(), open) {
            (gimli::DW_TAG_structure_type, None) => {
                let name = STRUCTURES.into_iter().find(|known| is_named(dwarf, unit, entry, known));
                if let Some(name) = name.filter(|name| !found.contains_key(name)) {
                    let size = entry.attr(gimli::DW_AT_byte_size).and_then(|size| size.udata_value()).unwrap_or(0);
                    found.insert(name, Structure { size, fields: HashMap::new() });
                    open = Some((name, entry.depth()));
                }
            }
            (gimli::DW_TAG_member, Some((structure, _))) => {
                let at = entry.attr(gimli::DW_AT_data_member_location).and_then(|at| at.udata_value());
                let name = entry.attr_value(gimli::DW_AT_name).and_then(|name| dwarf.attr_string(unit, name).ok());
                if let (Some(at), Some(name), Some(structure)) = (at, name, found.get_mut(structure)) {
                    structure.fields.insert(name.to_string_lossy().into_owned(), at);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_named<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    name: &str,
) -> bool {
    let found = entry.attr_value(gimli::DW_AT_name).and_then(|value| dwarf.attr_string(unit, value).ok());
    found.is_some_and(|found| found.slice() == name.as_bytes())
}
