//! `.proto` files and the directories in which they are found.

use crate::error::PlanError;
use crate::input::Input;
use std::io::ErrorKind;
use std::path::Path;
use torr_grpc::{ProtoFiles, Schema};
use torr_load::FileSource;
use torr_net::errors::describe;

/// The files of some directories.
struct Directories {
    files: FileSource,
    directories: Vec<String>,
}

impl ProtoFiles for Directories {
    fn read(&self, name: &str) -> Result<Option<String>, String> {
        for directory in &self.directories {
            let path = Path::new(directory).join(name).to_string_lossy().into_owned();
            match self.files.read(&path) {
                Ok(bytes) => {
                    return String::from_utf8(bytes).map(Some).map_err(|_| format!("'{path}' is not UTF-8 text"));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(format!("cannot read '{path}': {}", describe(&error))),
            }
        }
        Ok(None)
    }
}

/// Compiles `.proto` files. What they import is found in `directories`, or else beside them and in the current directory.
///
/// # Errors
/// For a file that cannot be read, and for a mistake in one.
pub(super) fn schema(paths: &[String], directories: &[String], files: &FileSource) -> Result<Schema, PlanError> {
    let (mut names, mut found_in) = (Vec::new(), directories.to_vec());
    for path in paths {
        // A file that is missing is named as the user named it.
        Input::of(files).read_text(path, "the service")?;
        let of_directory = |directory: &String| Path::new(path).strip_prefix(directory).ok();
        let name = directories.iter().find_map(of_directory);
        let (directory, name) = match name {
            Some(name) => (None, name),
            None => (Path::new(path).parent(), Path::new(Path::new(path).file_name().unwrap_or_default())),
        };
        found_in.extend(directory.map(|directory| directory.to_string_lossy().into_owned()));
        names.push(name.to_string_lossy().into_owned());
    }
    found_in.push(String::new());
    Schema::compile(&names, Directories { files: files.clone(), directories: found_in }).map_err(PlanError::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_beside_a_file_or_in_the_given_directories() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
            std::fs::write(&path, text).expect("there is room");
            path.display().to_string()
        };
        write("api/item.proto", "syntax = \"proto3\"; message Item {}");
        let service = "service Shop { rpc Get(Item) returns (Item); }";
        let beside = write("api/shop.proto", &format!("syntax = \"proto3\"; import \"item.proto\"; {service}"));
        let rooted = write("api/root.proto", &format!("syntax = \"proto3\"; import \"api/item.proto\"; {service}"));
        let rooted = [rooted];
        let root = folder.path().display().to_string();
        let has_method = |paths: &[String], directories: &[String]| {
            schema(paths, directories, &FileSource::Here)?.method("/Shop/Get").map(drop).map_err(PlanError::usage)
        };
        assert_eq!(has_method(&[beside], &[]), Ok(()));
        assert_eq!(has_method(&rooted, &[root]), Ok(()));
        let error = has_method(&rooted, &[]).expect_err("the import is elsewhere").to_string();
        assert!(error.contains("'api/item.proto' not found"), "{error}");
        let error = has_method(&["none.proto".to_owned()], &[]).expect_err("there is none").to_string();
        assert_eq!(error, "cannot read the service from 'none.proto': no such file or directory");
    }
}
