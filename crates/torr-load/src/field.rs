//! How a setting's field is read from text and printed as text.

use crate::load::Load;

/// The field of a setting.
#[derive(Clone, Copy)]
pub struct Field {
    /// Reads a value into a load; several values are added to each other.
    pub set: fn(&mut Load, &str) -> Result<(), String>,
    /// Returns the values of a load; a switch that is on has an empty one.
    pub get: fn(&Load) -> Vec<String>,
}

/// A switch.
macro_rules! switch {
    ($($path:ident).+) => {
        $crate::field::Field {
            set: |load, _| {
                load.$($path).+ = true;
                Ok(())
            },
            get: |load| if load.$($path).+ { vec![String::new()] } else { vec![] },
        }
    };
}

/// A text, of which the last counts.
macro_rules! text {
    ($($path:ident).+) => {
        $crate::field::Field {
            set: |load, text| {
                load.$($path).+ = Some(text.to_owned());
                Ok(())
            },
            get: |load| load.$($path).+.iter().cloned().collect(),
        }
    };
}

/// Texts.
macro_rules! texts {
    ($($path:ident).+) => {
        $crate::field::Field {
            set: |load, text| {
                load.$($path).+.push(text.to_owned());
                Ok(())
            },
            get: |load| load.$($path).+.clone(),
        }
    };
}

/// A path of a file.
macro_rules! file {
    ($($path:ident).+) => {
        $crate::field::Field {
            set: |load, text| {
                load.$($path).+ = Some(text.into());
                Ok(())
            },
            get: |load| load.$($path).+.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        }
    };
}

/// A file that a run writes.
macro_rules! output {
    ($file:ident) => {
        $crate::field::Field {
            set: |load, text| {
                load.output.files.insert($crate::output_file::OutputFile::$file, text.into());
                Ok(())
            },
            get: |load| {
                let path = load.output.files.get(&$crate::output_file::OutputFile::$file);
                path.iter().map(|path| path.to_string_lossy().into_owned()).collect()
            },
        }
    };
}

/// A value that a function reads.
macro_rules! parsed {
    ($($path:ident).+, $parse:expr) => {
        $crate::field::Field {
            set: |load, text| {
                load.$($path).+ = Some($crate::parsed::Parsed::read(text, $parse)?);
                Ok(())
            },
            get: |load| load.$($path).+.iter().map(|value| value.text().to_owned()).collect(),
        }
    };
}

/// Values that a function reads.
macro_rules! all_parsed {
    ($($path:ident).+, $parse:expr) => {
        $crate::field::Field {
            set: |load, text| {
                load.$($path).+.push($crate::parsed::Parsed::read(text, $parse)?);
                Ok(())
            },
            get: |load| load.$($path).+.iter().map(|value| value.text().to_owned()).collect(),
        }
    };
}

/// A kind of pieces of a body.
macro_rules! piece {
    ($kind:ident) => {
        $crate::field::Field {
            set: |load, text| {
                load.request.data.push(($crate::data_kind::DataKind::$kind, text.to_owned()));
                Ok(())
            },
            get: |load| {
                let pieces = load.request.data.iter();
                let of_kind = pieces.filter(|(kind, _)| *kind == $crate::data_kind::DataKind::$kind);
                of_kind.map(|(_, text)| text.clone()).collect()
            },
        }
    };
}

pub(crate) use {all_parsed, file, output, parsed, piece, switch, text, texts};
