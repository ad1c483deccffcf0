//! The file of an output: plain, compressed, or standard output.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

/// The file of an output.
#[derive(Debug)]
pub enum OutputFile {
    Plain(BufWriter<File>),
    Compressed(Box<GzEncoder<BufWriter<File>>>),
    Stdout(BufWriter<Stdout>),
}

impl OutputFile {
    /// Creates the file at a path, or takes standard output.
    pub fn create(path: &str) -> io::Result<Self> {
        if path.is_empty() || path == "-" {
            return Ok(Self::Stdout(BufWriter::new(io::stdout())));
        }
        let file = BufWriter::new(File::create(path)?);
        let is_compressed = Path::new(path).extension().is_some_and(|ending| ending == "gz");
        Ok(if is_compressed {
            Self::Compressed(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            Self::Plain(file)
        })
    }

    /// Writes what is buffered and the end of a compressed file.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Compressed(file) => file.finish()?.flush(),
            Self::Stdout(mut out) => out.flush(),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Compressed(file) => file.write(bytes),
            Self::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Compressed(file) => file.flush(),
            Self::Stdout(out) => out.flush(),
        }
    }
}
