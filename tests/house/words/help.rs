//! Comments that clap shows as help.

/// Code that only a source with a part of the command line has: clap reads the comments of its types.
const MARKS: [&str; 5] = ["#[arg(", "#[command(", ", Args)]", ", Parser)]", ", Subcommand)]"];

/// Returns the comments that clap shows, each with the number of its first line: those of types, fields and variants.
pub fn comments(source: &str) -> Vec<(usize, String)> {
    if !MARKS.iter().any(|mark| source.contains(mark)) {
        return vec![];
    }
    let (mut found, mut open) = (vec![], None::<(usize, String)>);
    for (number, line) in (1..).zip(source.lines().map(str::trim_start)) {
        match line.strip_prefix("///") {
            Some(text) => open.get_or_insert_with(|| (number, String::new())).1.push_str(text),
            // Attributes may stand between a comment and what it is about.
            None if line.starts_with("#[") => {}
            None => {
                let is_code = ["fn ", "const ", "static "].iter().any(|kind| line.contains(kind));
                found.extend(open.take().filter(|_| !is_code));
            }
        }
    }
    found
}

#[test]
fn comments_of_types_fields_and_variants_are_help() {
    let derived = "/// The program.\n#[derive(Debug, Args)]\npub struct A {\n    /// Send this\n    /// often\n    \
                   #[arg(long)]\n    pub often: u64,\n}\n\n/// Returns it.\n#[must_use]\npub fn it() {}\n\n\
                   /// It.\nconst IT: u8 = 1;\n";
    assert_eq!(comments(derived), [(1, " The program.".to_owned()), (4, " Send this often".to_owned())]);
    assert!(comments("struct A {\n    /// No help\n    often: u64,\n}\n").is_empty());
}
