//! A program or library that a process has mapped: its file, its sections and where it was loaded.

use super::maps::Mapping;
use super::memory::Memory;
use object::elf::PF_X;
use object::read::{ReadCache, ReadRef};
use object::{CompressionFormat, Object, ObjectSection, ObjectSegment, SegmentFlags};
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest section that is read, in bytes.
const SECTION: u64 = 256 << 20;
/// The most bytes of a mapping without a file (the vDSO) that are parsed.
const IMAGE: usize = 64 << 10;

/// Where an object's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// In a file that this process can open.
    File(PathBuf),
    /// In the memory of the process.
    Image(Vec<u8>),
    /// Nowhere.
    Missing,
}

/// An object that a process has mapped.
#[derive(Debug, Clone)]
pub struct ObjectFile {
    /// The path in the process's own mount namespace, or a name such as `[vdso]`.
    pub path: String,
    /// The addresses between its first and its last mapping.
    pub addresses: Range<u64>,
    /// The mappings of its code.
    pub code: Vec<Mapping>,
    /// What is added to an address in the file to get the address in the process.
    pub bias: u64,
    /// The addresses in the file that the object's data and code take, beyond what is mapped from the file.
    pub extent: Range<u64>,
    /// Whether the object is the program that the process was started with.
    pub is_program: bool,
    /// Whether the program is a Go program.
    pub is_go: bool,
    source: Source,
}

impl ObjectFile {
    /// Opens the object of these mappings, which have the same file and are in the order of their addresses. `None` if it has no code.
    pub fn of(process: i32, mappings: &[&Mapping]) -> Option<Self> {
        let first = mappings.first()?;
        let code: Vec<_> =
            mappings.iter().filter(|mapping| mapping.is_executable).map(|&mapping| mapping.clone()).collect();
        if code.is_empty() {
            return None;
        }
        let end = mappings.iter().map(|mapping| mapping.addresses.end).max()?;
        let source = if first.path == "[vdso]" {
            let length = (end - first.addresses.start).min(IMAGE as u64) as usize;
            Source::Image(Memory::of(process).bytes(first.addresses.start, length))
        } else {
            file_of(process, first).map_or(Source::Missing, Source::File)
        };
        let is_program = fs::metadata(format!("/proc/{process}/exe")).is_ok_and(|exe| exe.ino() == first.inode);
        let addresses = first.addresses.start..end;
        let mut object =
            Self { path: first.path.clone(), addresses, code, bias: 0, extent: 0..0, is_program, is_go: false, source };
        object.locate();
        Some(object)
    }

    /// Finds the bias and the extent by the segment that the first mapping of code comes from.
    fn locate(&mut self) {
        let code = self.code.first().cloned();
        let found = self.parse(|file| {
            let code = code?;
            let mut extent: Option<Range<u64>> = None;
            let mut bias = None;
            for segment in file.segments() {
                let (address, size) = (segment.address(), segment.size());
                let whole = extent.get_or_insert(address..address);
                *whole = whole.start.min(address)..whole.end.max(address.saturating_add(size));
                let (offset, length) = segment.file_range();
                // A mapping begins at a page, the segment's bytes maybe after the page's begin.
                let executable =
                    matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.0 & PF_X.0 != 0);
                if executable
                    && offset < code.offset.saturating_add(code.addresses.end - code.addresses.start)
                    && offset.saturating_add(length) > code.offset
                {
                    let mapped_at = address.wrapping_add(code.offset).wrapping_sub(offset);
                    bias.get_or_insert(code.addresses.start.wrapping_sub(mapped_at));
                }
            }
            let is_go = file.section_by_name(".gopclntab").is_some() || file.section_by_name(".go.buildinfo").is_some();
            Some((bias?, extent?, is_go))
        });
        if let Some((bias, extent, is_go)) = found.flatten() {
            (self.bias, self.extent, self.is_go) = (bias, extent, is_go);
        }
    }

    /// Returns the file that can be opened. `None` where the object has none.
    pub fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            _ => None,
        }
    }

    /// Returns whether the object's bytes can be read.
    pub fn is_readable(&self) -> bool {
        self.source != Source::Missing
    }

    /// Returns the offset in the file of an address of code in the process.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        let mapping = self.code.iter().find(|mapping| mapping.addresses.contains(&address))?;
        Some(address - mapping.addresses.start + mapping.offset)
    }

    /// Parses the object and passes it on. `None` if its bytes cannot be read.
    pub fn parse<T>(&self, with: impl FnOnce(&object::File<'_, &ReadCache<Bytes>>) -> T) -> Option<T> {
        let bytes = match &self.source {
            Source::File(path) => Bytes::File(File::open(path).ok()?),
            Source::Image(image) => Bytes::Image(io::Cursor::new(image.clone())),
            Source::Missing => return None,
        };
        let cache = ReadCache::new(bytes);
        let file = object::File::parse(&cache).ok()?;
        Some(with(&file))
    }

    /// Returns the name without its folders.
    pub fn short_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Reads a section, decompressed.
pub fn section<'a>(file: &object::File<'a, impl ReadRef<'a>>, name: &str) -> Option<Vec<u8>> {
    let section = file.section_by_name(name)?;
    if section.size() > SECTION {
        return None;
    }
    let data = section.compressed_data().ok()?;
    match data.format {
        CompressionFormat::None => Some(data.data.to_vec()),
        CompressionFormat::Zlib => {
            let mut bytes = Vec::new();
            let decoder = flate2::read::ZlibDecoder::new(data.data).take(data.uncompressed_size.min(SECTION));
            io::BufReader::new(decoder).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        }
        _ => None,
    }
}

/// Finds the file of a mapping: through the process's own root, and where it was deleted, by the kernel's links.
fn file_of(process: i32, mapping: &Mapping) -> Option<PathBuf> {
    let path = mapping.path.strip_suffix(" (deleted)").unwrap_or(&mapping.path);
    let range = format!("{:x}-{:x}", mapping.addresses.start, mapping.addresses.end);
    [
        PathBuf::from(format!("/proc/{process}/root{path}")),
        PathBuf::from(format!("/proc/{process}/exe")),
        PathBuf::from(format!("/proc/{process}/map_files/{range}")),
    ]
    .into_iter()
    .find(|file| fs::metadata(file).is_ok_and(|found| found.ino() == mapping.inode && found.is_file()))
}

/// The bytes of an object, which are read as they are needed.
#[derive(Debug)]
pub enum Bytes {
    /// Those of a file.
    File(File),
    /// Those of an image in memory.
    Image(io::Cursor<Vec<u8>>),
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Image(image) => image.read(buffer),
        }
    }
}

impl io::Seek for Bytes {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Image(image) => image.seek(to),
        }
    }
}
