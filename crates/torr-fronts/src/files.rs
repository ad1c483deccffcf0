//! The files that command lines name.

use crate::error::FrontError;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind};

/// Opens a file that is to be written after the run, so that a mistake shows before it.
pub fn create(path: &str) -> Result<BufWriter<File>, FrontError> {
    File::create(path).map(BufWriter::new).map_err(|error| failed("write", path, &error))
}

/// Reads a file that is to be sent.
pub fn read(path: &str) -> Result<Vec<u8>, FrontError> {
    fs::read(path).map_err(|error| failed("read", path, &error))
}

fn failed(verb: &str, path: &str, error: &io::Error) -> FrontError {
    let why = match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_owned(),
        _ => error.to_string(),
    };
    FrontError::Failed(format!("cannot {verb} '{path}': {why}"))
}
