//! Makes a table of the files below `shipped/`, so that the program has them wherever it is installed.
//!
//! The manifest of a Rust subject is called [`MANIFEST`] there: cargo leaves folders with a `Cargo.toml` out of packages.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The name of the file that becomes a subject's `Cargo.toml`.
const MANIFEST: &str = "manifest.toml";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("shipped");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut table = String::from("[\n");
    for file in files {
        let name = file.strip_prefix(&root).expect("it was found below the root");
        let name = if name.ends_with(MANIFEST) { name.with_file_name("Cargo.toml") } else { name.to_owned() };
        writeln!(table, "    ({name:?}, include_str!({file:?})),").expect("writing to memory does not fail");
    }
    table += "]\n";
    fs::write(PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("shipped.rs"), table)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        // What was built there, or was made to build it, is no source.
        if name == "target" || name == "Cargo.toml" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
