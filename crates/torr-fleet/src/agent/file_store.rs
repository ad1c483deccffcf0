//! The files of the plan that an agent has, or is about to have. They are in memory only, since they may hold secrets.

use crate::limits::{MOST_BYTES, MOST_FILES};
use crate::load;
use crate::message::{Digest, FilePart, LoadMessage};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bytes that a digest takes.
const DIGEST_BYTES: usize = 64;

/// Files by their digests.
#[derive(Debug, Default)]
pub(super) struct FileStore {
    whole: BTreeMap<Digest, Arc<[u8]>>,
    /// Files whose last part has not arrived: the number of parts that have, and their bytes.
    begun: BTreeMap<Digest, (u64, Vec<u8>)>,
    /// When a coordinator last spoke of files.
    used: Option<Instant>,
}

impl FileStore {
    /// Returns the digests of a load's files that are not here.
    pub fn missing(&mut self, load: &LoadMessage) -> Vec<Digest> {
        self.used = Some(Instant::now());
        let digests: BTreeSet<_> = load.files.values().filter(|digest| !self.whole.contains_key(*digest)).collect();
        digests.into_iter().cloned().collect()
    }

    /// Returns the files of a load by their paths. Those of other loads are forgotten.
    pub fn take(&mut self, load: &LoadMessage) -> BTreeMap<String, Arc<[u8]>> {
        let named: BTreeSet<_> = load.files.values().collect();
        self.whole.retain(|digest, _| named.contains(digest));
        self.begun.clear();
        let content = |(path, digest): (&String, &Digest)| Some((path.clone(), Arc::clone(self.whole.get(digest)?)));
        load.files.iter().filter_map(content).collect()
    }

    /// Forgets all files if no coordinator has spoken of any for so long.
    pub fn forget_after(&mut self, patience: Duration) {
        if self.used.is_some_and(|used| used.elapsed() >= patience) {
            *self = Self::default();
        }
    }

    /// Adds a part of a file. One that arrives again changes nothing.
    ///
    /// # Errors
    /// In one line, if parts are missing, the file is another than the digest says, or there is no room. Nothing of the file is held
    /// then.
    pub fn add(&mut self, part: &FilePart) -> Result<(), String> {
        self.used = Some(Instant::now());
        if self.whole.contains_key(&part.digest) {
            return Ok(());
        }
        let (arrived, mut content) = self.begun.remove(&part.digest).unwrap_or_default();
        if part.part < arrived {
            self.begun.insert(part.digest.clone(), (arrived, content));
            return Ok(());
        }
        if part.part > arrived {
            return Err(format!("file transfer incomplete: expected part {arrived}, found part {}", part.part));
        }
        let bytes = load::bytes(part)?;
        if self.whole.len() + self.begun.len() == MOST_FILES {
            *self = Self::default();
            return Err(format!("it can store at most {MOST_FILES} files"));
        }
        if self.bytes() + content.len() + bytes.len() > MOST_BYTES {
            *self = Self::default();
            return Err(format!("it can store at most {} MiB of files", MOST_BYTES >> 20));
        }
        content.extend(bytes);
        match part.last {
            false => drop(self.begun.insert(part.digest.clone(), (arrived + 1, content))),
            true if Digest::of(&content) != part.digest => {
                return Err("the digest of a file does not match its content".into());
            }
            true => drop(self.whole.insert(part.digest.clone(), content.into())),
        }
        Ok(())
    }

    /// Returns the bytes of all files and of their digests.
    fn bytes(&self) -> usize {
        let begun = self.begun.values().map(|(_, content)| content.len());
        self.whole.values().map(|content| content.len()).chain(begun).map(|length| length + DIGEST_BYTES).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_of(digests: &[&Digest]) -> LoadMessage {
        let files = digests.iter().map(|&digest| (format!("file of {digest}"), digest.clone())).collect();
        LoadMessage { files, ..LoadMessage::default() }
    }

    #[test]
    fn files_arrive_in_parts_and_stay_for_their_load() {
        let mut store = FileStore::default();
        let content = vec![7; 2_000_000];
        let digest = Digest::of(&content);
        let load = load_of(&[&digest]);
        let parts: Vec<_> = load::parts(&digest, &content).collect();
        assert!(store.add(&parts[1]).is_err(), "the first part comes first");
        for part in &parts {
            assert_eq!(store.missing(&load), std::slice::from_ref(&digest));
            store.add(part).expect("it fits");
            store.add(part).expect("again is no harm");
        }
        assert!(store.missing(&load).is_empty());
        assert_eq!(*store.take(&load)[&format!("file of {digest}")], *content);
        assert!(store.take(&load_of(&[])).is_empty());
        assert_eq!(store.missing(&load), [digest], "those of other loads are forgotten");
        parts.iter().for_each(|part| store.add(part).expect("it fits"));
        store.forget_after(Duration::from_secs(60));
        assert!(store.missing(&load).is_empty());
        store.forget_after(Duration::ZERO);
        assert_eq!(store.bytes(), 0, "so are those of a coordinator that is gone");
    }

    /// A part of a file with the digest of `number`, which is not that of its content.
    fn part_of(number: u64, part: u64, last: bool, content: &[u8]) -> FilePart {
        let digest = Digest::of(&number.to_le_bytes());
        let content = load::parts(&digest, content).next().expect("there is one").content;
        FilePart { digest, part, last, content }
    }

    #[test]
    fn a_part_that_is_refused_leaves_nothing() {
        let mut store = FileStore::default();
        let no_base64 = FilePart { content: "=".into(), ..part_of(1, 0, false, b"") };
        for (part, why) in [
            (part_of(1, 0, true, b"x"), "digest"),
            (part_of(1, 1, false, b"x"), "expected part 0, found part 1"),
            (no_base64, "base64"),
        ] {
            assert!(store.add(&part).is_err_and(|refused| refused.contains(why)), "{why}");
            assert_eq!((store.begun.len(), store.whole.len()), (0, 0), "{why}");
        }
        // Neither does one behind parts that were accepted.
        store.add(&part_of(1, 0, false, b"x")).expect("it fits");
        assert!(store.add(&part_of(1, 2, false, b"x")).is_err());
        assert_eq!(store.begun.len(), 0);
    }

    #[test]
    fn bytes_digests_and_the_number_of_files_are_bounded() {
        let mut store = FileStore::default();
        let big = vec![0; 1 << 20];
        let mut parts = (0..).map(|number| part_of(number, 0, false, &big));
        let refused = parts.find_map(|part| store.add(&part).err());
        assert!(refused.is_some_and(|why| why.contains("64 MiB")) && store.bytes() == 0);
        // Files without a byte have digests.
        let refused = (0..=MOST_FILES as u64).find_map(|number| store.add(&part_of(number, 0, false, b"")).err());
        assert!(refused.is_some_and(|why| why.contains("10000 files")) && store.bytes() == 0);
    }
}
