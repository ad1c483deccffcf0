//! Imports: what is refused is refused in one line, and what is made is a hurl file that compiles.

use std::collections::BTreeMap;
use torr_import::httpfile::{Environment, Options};
use torr_import::{
    Draft, ImportError, apipost, artillery, bruno, curl, har, httpfile, insomnia, jmeter, openapi, postman,
};
use torr_session::hurl::{Position, parse};
use torr_session::{Files, Session};

/// Stands for the files that an entry sends.
struct AnyFile;

impl Files for AnyFile {
    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Ok(b"content".to_vec())
    }
}

/// Checks one command line of curl.
pub fn curl(bytes: &[u8]) {
    text(bytes).into_iter().for_each(|text| check(curl::import(text)));
}

/// Checks one recording.
pub fn har(bytes: &[u8]) {
    text(bytes)
        .into_iter()
        .for_each(|text| check(har::import(text, &har::Options { all: true, ..har::Options::default() })));
}

/// Checks one description.
pub fn openapi(bytes: &[u8]) {
    text(bytes).into_iter().for_each(|text| check(openapi::import(text, &openapi::Options::default())));
}

/// Checks one collection, which is its own environment as well.
pub fn postman(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    check(postman::import(text, None));
    check(postman::import(text, Some(text)));
}

/// Checks one export of Apipost.
pub fn apipost(bytes: &[u8]) {
    text(bytes).into_iter().for_each(|text| check(apipost::import(text)));
}

/// Checks one script of Artillery, which is its own file of records as well.
pub fn artillery(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let read = |_: &str| Ok(bytes.to_vec());
    for environment in [None, Some("staging".to_owned())] {
        let made = artillery::import(text, &artillery::Options { environment, folder: String::new(), read: &read });
        let made = made.map(|script| {
            let scenarios = script.scenarios.into_iter().map(|scenario| scenario.draft);
            scenarios.chain(script.before).chain(script.after).collect::<Vec<_>>()
        });
        match made {
            Ok(drafts) => drafts.into_iter().for_each(|draft| check(Ok(draft))),
            Err(error) => check(Err(error)),
        }
    }
}

/// Checks one collection of Bruno, whose files begin with a line `=== PATH`.
pub fn bruno(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let file = |file: &str| file.split_once('\n').map(|(path, text)| (path.to_owned(), text.to_owned()));
    let files: BTreeMap<String, String> = text.split("=== ").filter_map(file).collect();
    for environment in [None, Some("local".to_owned())] {
        check(bruno::import(&files, &bruno::Options { environment, only: None }));
    }
}

/// Checks one export of Insomnia, which is its own global environment as well.
pub fn insomnia(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for options in [(None, None), (Some("Test"), None), (None, Some(text))] {
        check(insomnia::import(text, &insomnia::Options { environment: options.0, globals: options.1 }));
    }
}

/// Checks one file of requests, which is a file of its variables and every file beside it as well.
pub fn http(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let read = |_: &str| Ok(bytes.to_vec());
    for environments in [Vec::new(), vec![Environment::Lines { text: text.to_owned(), is_chosen: true }]] {
        check(httpfile::import(text, &Options { environments, environment: None, read: &read }));
    }
}

/// Checks one plan of JMeter.
pub fn jmeter(bytes: &[u8]) {
    match text(bytes).map(jmeter::import) {
        Some(Ok(groups)) => groups.into_iter().for_each(|group| check(Ok(group.draft))),
        Some(Err(error)) => check(Err(error)),
        None => {}
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn check(imported: Result<Draft, ImportError>) {
    let draft = match imported {
        Ok(draft) => draft,
        Err(error) => {
            assert!(!error.to_string().trim().contains('\n'), "{error}");
            return;
        }
    };
    let text = draft.text();
    let file = parse(&text).unwrap_or_else(|error| panic!("what was made cannot be read: {error}\n{text}"));
    assert_eq!(file.entries.len(), draft.entries.len(), "{text}");
    let session = Session::compile(&file, &AnyFile, []);
    let session = session.unwrap_or_else(|error| panic!("what was made does not compile: {error}\n{text}"));
    // Each variable has a value in the file, or the summary says where it comes from.
    let summary = draft.summary();
    for (name, at) in session.names.unassigned() {
        let Position { line, .. } = at;
        assert!(
            summary.contains(name.as_str()),
            "line {line} uses '{name}', which the summary does not name\n{text}{summary}"
        );
    }
}
