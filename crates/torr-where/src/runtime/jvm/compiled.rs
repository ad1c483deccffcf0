//! Where a JVM has the code that it compiled: the map that it writes for `perf` (`jcmd Compiler.perfmap`, from JDK 17 on).

use super::super::process;
use super::attach::Attached;
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The most bytes of a map that are read.
const LARGEST: u64 = 64 << 20;

/// The compiled methods of a JVM.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CompiledCode {
    /// By the first address of a piece of code: the address behind its last byte, and the method that it was compiled of, which an
    /// interpreter and other code of the JVM do not have.
    pieces: BTreeMap<u64, (u64, Option<String>)>,
}

impl CompiledCode {
    /// Returns the methods that a JVM has compiled by now. `None` if it writes no map, or if there is one that it has not written for us.
    pub fn of(attached: &Attached, process: i32) -> Option<Self> {
        let path = process::path(process, &format!("/tmp/perf-{}.map", process::own_number(process)?));
        if fs::symlink_metadata(&path).is_ok() {
            return None;
        }
        let map = Map(path);
        attached.command("jcmd", &["Compiler.perfmap"]).ok()?;
        Some(Self::parse(&map.read()?))
    }

    /// Parses a map: lines of an address, a length, both hexadecimal, and a name.
    pub fn parse(map: &str) -> Self {
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let piece = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (begin, length) = (number(words.next()?)?, number(words.next()?)?);
            Some((begin, (begin.checked_add(length)?, words.next().and_then(method))))
        };
        Self { pieces: map.lines().filter_map(piece).collect() }
    }

    /// Returns the method whose code is at an address.
    pub fn method(&self, address: u64) -> Option<&str> {
        let (_, (end, method)) = self.pieces.range(..=address).next_back()?;
        method.as_deref().filter(|_| address < *end)
    }
}

/// Returns class and name of a method that a map names with its types, such as `int shop.Orders.count(java.lang.String)`.
fn method(name: &str) -> Option<String> {
    let (before, _) = name.split_once('(')?;
    let name = before.rsplit(' ').next()?;
    name.contains('.').then(|| name.to_owned())
}

/// The file of a map. It is removed when this value is dropped.
struct Map(PathBuf);

impl Map {
    fn read(&self) -> Option<String> {
        let no_link = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits() as i32;
        let file = fs::OpenOptions::new().read(true).custom_flags(no_link).open(&self.0).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = vec![];
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // It was not there before. A JVM that writes none has left none.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_a_method() {
        let code = CompiledCode::parse(
            "0x00007f10 0x0000000000000010 int shop.Orders.count(java.lang.String, int)\n\
             0x00007f20 0x20 void shop.Orders$Item.<init>(int)\n\
             0x00007f40 0x10 Interpreter\n\
             0x00007f60 0x10 StubRoutines (2)\n\
             broken\n0xffffffffffffffff 0xffffffffffffffff void a.b()\n",
        );
        let at = |address| code.method(address);
        assert_eq!((at(0x7f10), at(0x7f1f)), (Some("shop.Orders.count"), Some("shop.Orders.count")));
        assert_eq!((at(0x7f3f), at(0x7f45)), (Some("shop.Orders$Item.<init>"), None));
        assert_eq!((at(0x7f0f), at(0x7f55), at(0x7f65), at(u64::MAX)), (None, None, None, None));
    }
}
