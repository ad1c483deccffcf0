//! The workspace of all programs: each a package with two programs, as it is and moved. Both are built of the same libraries with the
//! same features, so that they differ by the changed lines alone.

use crate::listed::Program;
use crate::sources::{Folders, cargo, copy_lock, write_if_new};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that is built, or the reason why not.
#[derive(Debug, Clone)]
pub struct Built {
    pub original: PathBuf,
    pub changed: PathBuf,
    /// The folder that both run in.
    pub folder: PathBuf,
    pub lines_changed: usize,
}

/// What was built, by the programs' names.
pub type Outcomes = HashMap<String, Result<Built, String>>;

/// Writes the workspace of `all` programs and builds those `chosen`.
pub fn build(
    all: &[Program],
    chosen: &[Program],
    folders: &Folders,
    here: &Path,
    target: &Path,
    offline: bool,
) -> Result<Outcomes, String> {
    let root = target.join("adoption-programs");
    let mut outcomes = Outcomes::new();
    for program in all {
        outcomes.insert(program.name.clone(), lay_out(program, folders, here, &root, target));
    }
    let placed = |program: &&Program| outcomes[&program.name].is_ok();
    let members: Vec<_> = all.iter().filter(placed).map(|program| format!("{:?}", program.name)).collect();
    write_if_new(
        &root.join("Cargo.toml"),
        &format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n[profile.dev]\ndebug = false\n", members.join(", ")),
    )?;
    copy_lock(&here.join("programs.lock"), &root)?;

    let mut command = Command::new(cargo());
    command.args(["build", "--bins", "--keep-going"]).current_dir(&root).env("CARGO_TARGET_DIR", target);
    if chosen.len() == all.len() {
        command.arg("--workspace");
    }
    for program in chosen.iter().filter(placed).filter(|_| chosen.len() < all.len()) {
        command.args(["-p", &program.name]);
    }
    if offline {
        command.arg("--offline");
    }
    eprintln!("building {} programs in {}", chosen.len(), target.display());
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    for (name, outcome) in &mut outcomes {
        let is_chosen = chosen.iter().any(|program| program.name == *name);
        let Ok(built) = outcome else { continue };
        // What an earlier run has built is stale where this build failed.
        let is_built = built.original.exists() && built.changed.exists();
        if is_chosen && !is_built {
            let why = if status.success() { "cargo left no program" } else { "does not build: see what cargo prints" };
            *outcome = Err(why.to_owned());
        }
    }
    Ok(outcomes)
}

/// Lays out a program's package: what the published package has beside its library, and both variants.
fn lay_out(program: &Program, folders: &Folders, here: &Path, root: &Path, target: &Path) -> Result<Built, String> {
    let folder = root.join(&program.name);
    let package = program.package();
    let from = match package {
        None => here.to_owned(),
        Some((name, version)) => {
            let found = folders.get(&(name.to_owned(), version.to_owned()));
            let found = found.ok_or_else(|| format!("cargo has fetched no {name} {version}"))?;
            copy_beside_library(found, &folder)?;
            found.clone()
        }
    };
    let file = from.join(program.file());
    let source = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut common = source.clone();
    for [before, after] in &program.both {
        if !common.contains(before.as_str()) {
            return Err(format!("{}: {before:?} does not stand in the source", program.name));
        }
        common = common.replace(before, after);
    }
    let changed = program.changed(&common)?;
    // Beside the published file, so that its modules and what it includes are found.
    let at = |suffix: &str| Path::new(program.file()).with_extension(suffix);
    let (original_at, changed_at) = (at("axum.rs"), at("torr.rs"));
    write_if_new(&folder.join(&original_at), &common)?;
    write_if_new(&folder.join(&changed_at), &changed)?;
    write_if_new(&folder.join("Cargo.toml"), &manifest(program, here, [&original_at, &changed_at]))?;
    let built = |kind: &str| target.join("debug").join(format!("{}-{kind}", program.name));
    let lines_changed = program.lines_changed(&common, &changed);
    Ok(Built { original: built("axum"), changed: built("torr"), folder, lines_changed })
}

fn manifest(program: &Program, here: &Path, [original, changed]: [&Path; 2]) -> String {
    let Program { name, dependencies, features, .. } = program;
    let serve = here.join("../../crates/torr-serve");
    let mut text = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\nautoexamples = false\n\
         [[bin]]\nname = \"{name}-axum\"\npath = {original:?}\n\
         [[bin]]\nname = \"{name}-torr\"\npath = {changed:?}\n\
         [dependencies]\n{dependencies}\ntorr-serve = {{ path = {serve:?} }}\n"
    );
    if let (Some((package, version)), true) = (program.package(), program.needs_package) {
        text += &format!("{package} = {{ version = \"={version}\", features = {features:?} }}\n");
    }
    // Parts of an example may depend on its package's features.
    text += &format!("[features]\ndefault = {features:?}\n");
    features.iter().for_each(|feature| text += &format!("{feature} = []\n"));
    text
}

/// Copies a published package but for its library and its manifests: templates, pages and modules of its examples.
fn copy_beside_library(from: &Path, to: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(fault)?;
    for entry in fs::read_dir(from).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let (name, path) = (entry.file_name(), entry.path());
        let is_library = ["src", "tests", "benches"].iter().any(|own| name == *own);
        if path.is_dir() && !is_library {
            copy_beside_library(&path, &to.join(name))?;
        } else if path.is_file() && !name.to_string_lossy().starts_with("Cargo") && !to.join(&name).exists() {
            fs::copy(&path, to.join(name)).map_err(fault)?;
        }
    }
    Ok(())
}
