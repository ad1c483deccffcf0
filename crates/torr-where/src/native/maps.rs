//! The mappings of a process: which file's bytes are at which address.

use std::fs;
use std::io;
use std::ops::Range;

/// The most mappings of a process that are looked at.
const MAPPINGS: usize = 20_000;

/// A range of a process's addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The addresses.
    pub addresses: Range<u64>,
    /// Whether code in the range can be executed.
    pub is_executable: bool,
    /// Where in the file the range begins.
    pub offset: u64,
    /// The file's inode. 0 of memory without a file.
    pub inode: u64,
    /// The file's path in the process's mount namespace, or a name such as `[vdso]`. Empty of anonymous memory.
    pub path: String,
}

/// Reads the mappings of a process, in the order of their addresses.
///
/// # Errors
/// Those of reading `/proc/PID/maps`.
pub fn of(process: i32) -> io::Result<Vec<Mapping>> {
    let text = fs::read(format!("/proc/{process}/maps"))?;
    Ok(String::from_utf8_lossy(&text).lines().take(MAPPINGS).filter_map(mapping).collect())
}

/// Parses a line of `maps`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_ascii_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let _device = words.next()?;
    let inode_text = words.next()?;
    let inode = inode_text.parse().ok()?;
    // A path may have spaces: it is what follows the inode.
    let path = match words.next() {
        None => "",
        Some(first) => &line[first.as_ptr() as usize - line.as_ptr() as usize..],
    };
    let addresses = u64::from_str_radix(begin, 16).ok()?..u64::from_str_radix(end, 16).ok()?;
    Some(Mapping { addresses, is_executable: rights.contains('x'), offset, inode, path: path.trim_end().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_and_names_of_memory_are_kept() {
        let found =
            mapping("7f01-7f02 r-xp 00001000 fe:00 42                 /srv/my app (deleted)").expect("it is a line");
        assert_eq!(found.path, "/srv/my app (deleted)");
        assert_eq!(
            (found.addresses, found.is_executable, found.offset, found.inode),
            (0x7f01..0x7f02, true, 0x1000, 42)
        );
        assert_eq!(mapping("1000-2000 rw-p 0 00:00 0 ").expect("it is a line").path, "");
        assert_eq!(mapping("1000-2000 rw-p 0 00:00 0 [vdso]").expect("it is a line").path, "[vdso]");
        assert_eq!(mapping("nothing"), None);
    }
}
