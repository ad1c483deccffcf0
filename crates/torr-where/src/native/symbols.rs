//! Symbols of data: the name of a static lock by its address, and the address of a variable by its name.

use super::object_file::ObjectFile;
use object::{Object, ObjectSymbol, SymbolKind};

/// The most symbols of data of an object.
const SYMBOLS: usize = 1_000_000;

/// The symbols of an object's data.
#[derive(Debug, Default)]
pub struct DataSymbols {
    /// Address in the file, size and name, in the order of addresses.
    symbols: Vec<(u64, u64, String)>,
}

impl DataSymbols {
    /// Reads the symbols of an object. None if the object is stripped.
    pub fn of(object: &ObjectFile) -> Self {
        let read = object.parse(|file| {
            let of_data = |symbol: &object::Symbol<'_, '_, _>| {
                let is_data = matches!(symbol.kind(), SymbolKind::Data | SymbolKind::Unknown) && symbol.size() > 0;
                let name = is_data.then(|| symbol.name().ok()).flatten()?;
                Some((symbol.address(), symbol.size(), name.to_owned()))
            };
            file.symbols()
                .chain(file.dynamic_symbols())
                .take(SYMBOLS)
                .filter_map(|symbol| of_data(&symbol))
                .collect::<Vec<_>>()
        });
        let mut symbols = read.unwrap_or_default();
        symbols.sort_unstable();
        Self { symbols }
    }

    /// Returns the name of the variable at an address in the file.
    pub fn name_at(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(begin, _, _)| *begin <= address);
        let near = self.symbols[..after].iter().rev().take(8);
        near.into_iter().find(|(begin, size, _)| address - begin < *size).map(|(_, _, name)| name.as_str())
    }

    /// Returns the address in the file and the size of a variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.symbols.iter().find(|(_, _, known)| known == name).map(|(address, size, _)| (*address, *size))
    }
}
