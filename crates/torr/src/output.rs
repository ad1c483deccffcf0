//! Where results go.

use crate::exit::Stop;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Where JSON is to be written, opened before the work so that a mistake shows before and not after it.
pub struct JsonSink(Option<File>);

impl JsonSink {
    /// `-` is standard output.
    pub fn open(path: &Path) -> Result<Self, Stop> {
        if path == Path::new("-") {
            return Ok(Self(None));
        }
        let file =
            File::create(path).map_err(|error| Stop::Usage(format!("cannot write {}: {error}", path.display())))?;
        Ok(Self(Some(file)))
    }

    /// Whether standard output belongs to the JSON alone.
    pub fn takes_stdout(&self) -> bool {
        self.0.is_none()
    }

    /// Writes the whole text.
    pub fn write(self, json: &str) -> Result<(), Stop> {
        match self.0 {
            None => {
                print(&format!("{json}\n"));
                Ok(())
            }
            Some(mut file) => {
                let written = file.write_all(json.as_bytes()).and_then(|()| file.write_all(b"\n"));
                written.map_err(|error| Stop::Failed(format!("the JSON could not be written: {error}")))
            }
        }
    }
}

/// Prints to standard output; a reader that has gone away is none of our business.
pub fn print(text: &str) {
    let mut out = anstream::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
