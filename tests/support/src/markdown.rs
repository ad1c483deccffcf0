//! The fenced blocks of a page of the documentation, and its links.

/// What stands between two fences.
#[derive(Debug)]
pub struct Block<'p> {
    /// The word behind the opening fence, such as `rust`.
    pub kind: &'p str,
    /// The heading above it.
    pub section: &'p str,
    /// The name of the example that was spoken of last.
    pub example: Option<&'p str>,
    pub text: String,
}

/// All blocks of a page.
///
/// # Panics
/// If one does not end.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open) = (Vec::new(), None::<Block<'_>>);
    let (mut section, mut example) = ("", None);
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(kind), None) => open = Some(Block { kind, section, example, text: String::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => {
                section = line.strip_prefix('#').map_or(section, |rest| rest.trim_start_matches('#').trim());
                let named = line.rsplit_once("examples/").and_then(|(_, rest)| rest.split_once(".rs"));
                example = named.map(|(name, _)| name).or(example);
            }
        }
    }
    assert!(open.is_none(), "a block does not end: {open:?}");
    blocks
}

/// What the links of a page lead to, those within code aside.
pub fn links(page: &str) -> Vec<&str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target).filter(|target| !target.contains(char::is_whitespace)).collect()
}

/// The names by which links reach the headings of a page.
pub fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()));
    let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    headings.map(|heading| heading.to_lowercase().replace(|c| !kept(c), "").replace(' ', "-")).collect()
}
