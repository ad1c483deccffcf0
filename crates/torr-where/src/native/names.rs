//! Names and source lines of addresses of code.

use super::go::{LineTable, Position};
use super::maps::Mapping;
use super::memory::Memory;
use super::object_file::ObjectFile;
use super::own::{Traits, is_own};
use super::tidy::{module, tidy};
use crate::stack::Frame;
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// The most addresses whose names are kept.
const ADDRESSES: usize = 50_000;
/// The most bytes of a map of compiled code, and the most functions in it.
const MAP: u64 = 64 << 20;
const COMPILED: usize = 500_000;

/// Names of a process's code.
#[derive(Debug)]
pub struct Names {
    process: i32,
    symbolizer: Symbolizer,
    known: HashMap<u64, Arc<[Arc<Frame>]>>,
    /// Functions that a JIT compiler made, by their begin: the end, and the name.
    compiled: BTreeMap<u64, (u64, String)>,
    /// What is known of an object, by its path.
    traits: HashMap<String, Traits>,
    /// The tables of functions of Go programs that have no debug information, by their paths.
    line_tables: HashMap<String, Option<LineTable>>,
}

impl Names {
    /// Returns the names of a process's code. Files are read when the first address in them is named.
    pub fn of(process: i32) -> Self {
        let symbolizer =
            Symbolizer::builder().enable_code_info(true).enable_inlined_fns(true).enable_demangling(true).build();
        Self {
            process,
            symbolizer,
            known: HashMap::new(),
            compiled: BTreeMap::new(),
            traits: HashMap::new(),
            line_tables: HashMap::new(),
        }
    }

    /// Reads the map of compiled code (`/tmp/perf-PID.map`), if the process wrote one, and returns how many functions it has.
    pub fn read_compiled(&mut self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap_or_default();
        let inner =
            status.lines().find_map(|line| line.strip_prefix("NSpid:")).and_then(|pids| pids.split_whitespace().last());
        let inner = inner.unwrap_or("0").to_owned();
        let path = format!("/proc/{}/root/tmp/perf-{inner}.map", self.process);
        // Anyone may put something else there, such as a pipe, which opens when another program writes.
        if std::fs::metadata(&path).is_ok_and(|found| found.is_file())
            && let Ok(file) = File::open(path)
        {
            self.compiled.extend(functions(file));
        }
        self.compiled.len()
    }

    /// Returns the frames of an address, the innermost first: several where functions were inlined.
    pub fn frames(&mut self, address: u64, objects: &[ObjectFile], anonymous: &[Mapping]) -> Arc<[Arc<Frame>]> {
        if let Some(known) = self.known.get(&address) {
            return Arc::clone(known);
        }
        if self.known.len() >= ADDRESSES {
            self.known.clear();
        }
        let frames: Vec<Frame> = match objects.iter().find(|object| object.addresses.contains(&address)) {
            Some(object) => self.named(object, address),
            None => vec![self.compiled(address, anonymous)],
        };
        let frames: Arc<[Arc<Frame>]> = frames.into_iter().map(Arc::new).collect();
        self.known.insert(address, Arc::clone(&frames));
        frames
    }

    /// Names an address of an object.
    fn named(&mut self, object: &ObjectFile, address: u64) -> Vec<Frame> {
        let symbolizer = &self.symbolizer;
        let traits = self.traits.entry(object.path.clone()).or_insert_with(|| {
            let has_line = |main| {
                let found = object
                    .file()
                    .map(|path| symbolizer.symbolize_single(&Source::Elf(Elf::new(path)), Input::VirtOffset(main)));
                matches!(found, Some(Ok(Symbolized::Sym(symbol))) if symbol.code_info.is_some())
            };
            Traits::of(object, has_line)
        });
        let found = object.file_offset(address).zip(object.file()).and_then(|(offset, path)| {
            let source = Source::Elf(Elf::new(path));
            match symbolizer.symbolize_single(&source, Input::FileOffset(offset)) {
                Ok(Symbolized::Sym(symbol)) => Some(frames_of(object, traits, &symbol)),
                _ => None,
            }
        });
        // Without debug information a Go program still has names, lines and inlined functions for its own tracebacks.
        let has_line = found.as_ref().is_some_and(|frames| frames.iter().any(|frame| frame.line.is_some()));
        let mut by_table = || {
            let memory = Memory::of(self.process);
            let table = self.line_tables.entry(object.path.clone()).or_insert_with(|| LineTable::of(object, memory));
            let positions = table.as_ref()?.positions(address)?;
            Some(positions.iter().map(|position| frame_at(object, traits, position)).collect())
        };
        let by_table = if object.is_go && !has_line { by_table() } else { None };
        by_table.or(found).unwrap_or_else(|| {
            let at = address.wrapping_sub(object.bias);
            let function = format!("{}+{at:#x}", object.short_name());
            let is_own = is_own(object, traits, &function, "", None);
            vec![Frame { function, object: object.path.clone(), is_own, ..Frame::default() }]
        })
    }

    /// Names an address outside of all objects.
    fn compiled(&self, address: u64, anonymous: &[Mapping]) -> Frame {
        let found = self.compiled.range(..=address).next_back().filter(|(_, (end, _))| address < *end);
        let object =
            anonymous.iter().find(|mapping| mapping.addresses.contains(&address)).map_or("", |mapping| &mapping.path);
        match found {
            Some((_, (_, name))) => Frame {
                function: name.clone(),
                object: "[jit]".to_owned(),
                is_named: true,
                is_own: true,
                ..Frame::default()
            },
            None => Frame { function: format!("{address:#x}"), object: object.to_owned(), ..Frame::default() },
        }
    }
}

/// Makes the frames of a symbol, the innermost first.
fn frames_of(object: &ObjectFile, traits: &Traits, symbol: &Sym<'_>) -> Vec<Frame> {
    let mut frames = vec![frame(object, traits, &symbol.name, symbol.code_info.as_deref())];
    frames
        .extend(symbol.inlined.iter().map(|inlined| frame(object, traits, &inlined.name, inlined.code_info.as_ref())));
    frames.reverse();
    frames
}

fn frame(object: &ObjectFile, traits: &Traits, name: &str, place: Option<&CodeInfo<'_>>) -> Frame {
    let function = tidy(name);
    let module = module(&function, object.is_go);
    let file = place.map(|place| place.to_path().to_string_lossy().into_owned());
    let is_own = is_own(object, traits, &function, &module, file.as_deref());
    let line = place.and_then(|place| place.line).filter(|&line| line > 0);
    Frame { function, file, line, object: object.path.clone(), module, is_own, is_named: true }
}

/// Makes the frame of a function in a Go program's own table.
fn frame_at(object: &ObjectFile, traits: &Traits, position: &Position) -> Frame {
    let Position { function, file, line } = position;
    let function = tidy(function);
    let module = module(&function, true);
    let is_own = is_own(object, traits, &function, &module, file.as_deref());
    let (file, line) = (file.clone(), line.filter(|&line| line > 0));
    Frame { function, file, line, object: object.path.clone(), module, is_own, is_named: true }
}

/// Reads a map of compiled code: of each function the begin, then the end and the name.
fn functions(map: impl Read) -> impl Iterator<Item = (u64, (u64, String))> {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let function = move |line: String| {
        let mut words = line.splitn(3, ' ');
        let (begin, size, name) = (hex(words.next()?)?, hex(words.next()?)?, words.next()?);
        Some((begin, (begin.saturating_add(size), name.to_owned())))
    };
    BufReader::new(map.take(MAP)).lines().map_while(Result::ok).take(COMPILED).filter_map(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_of_compiled_code_has_an_end() {
        let map = &b"0x1000 20 handle app.js:7\nnothing\nffffffffffffffff 10 last\n"[..];
        let found: Vec<_> = functions(map).collect();
        assert_eq!(
            found,
            [(0x1000, (0x1020, "handle app.js:7".to_owned())), (u64::MAX, (u64::MAX, "last".to_owned()))]
        );
        assert_eq!(functions(std::io::repeat(b'x')).count(), 0);
    }
}
