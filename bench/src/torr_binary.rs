//! The `torr` program to be measured: this tree's release build, unless another is given.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Error;
use crate::interrupt;

/// The workspace's folder.
pub fn workspace() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).join("..")
}

/// Builds `torr` in release mode, and returns where cargo put it.
pub fn build() -> Result<PathBuf, Error> {
    eprintln!("building torr");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "-p", "torr", "--message-format=json-render-diagnostics"])
        .current_dir(workspace())
        .stderr(Stdio::inherit())
        .output()
        .map_err(Error::at("cannot run cargo to build torr"))?;
    interrupt::check()?;
    if !built.status.success() {
        return Err(Error::failed(
            "torr does not build; measure another with --torr PATH, or leave it out with --only",
        ));
    }
    String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "torr")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| Error::failed("cargo built torr but named no program"))
}
