//! The sources of published packages: fetched by cargo, and found where cargo keeps them.

use crate::listed::Program;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of packages, by name and version.
pub type Folders = HashMap<(String, String), PathBuf>;

/// Fetches the packages that programs come from, and returns their folders.
pub fn find(programs: &[Program], here: &Path, target: &Path, offline: bool) -> Result<Folders, String> {
    let wanted: BTreeSet<_> = programs.iter().filter_map(Program::package).collect();
    let folder = target.join("adoption-sources");
    let mut manifest = String::from(
        "[package]\nname = \"sources\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"empty.rs\"\n\
         [workspace]\n[dependencies]\n",
    );
    for (number, (name, version)) in wanted.iter().enumerate() {
        manifest += &format!(
            "source{number} = {{ package = \"{name}\", version = \"={version}\", default-features = false }}\n"
        );
    }
    write_if_new(&folder.join("Cargo.toml"), &manifest)?;
    write_if_new(&folder.join("empty.rs"), "")?;
    copy_lock(&here.join("sources.lock"), &folder)?;

    let mut command = Command::new(cargo());
    command.args(["metadata", "--format-version", "1"]).current_dir(&folder);
    if offline {
        command.arg("--offline");
    }
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo cannot fetch the sources of the programs; this needs the package registry once, and --offline later:\n{}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let found = packages.iter().filter_map(|package| {
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
        Some(((name.to_owned(), version.to_owned()), folder.to_owned()))
    });
    Ok(found.collect())
}

/// Puts a lock file of this folder beside a manifest, unless there is one: cargo has then completed it.
pub fn copy_lock(lock: &Path, folder: &Path) -> Result<(), String> {
    let to = folder.join("Cargo.lock");
    if to.exists() || !lock.exists() {
        return Ok(());
    }
    fs::copy(lock, &to).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}

/// Returns the program that started this one, or the one of the search path.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Writes a file unless it has this content, so that cargo builds nothing anew.
pub fn write_if_new(path: &Path, content: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let folder = path.parent().ok_or("a file without a folder")?;
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}
