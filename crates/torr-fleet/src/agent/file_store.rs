//! The files of the plan that an agent has, or is about to have. They are in memory only, since they may hold secrets.

use crate::load::{self, MOST_BYTES};
use crate::message::{FilePart, LoadMessage};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files by their digests.
#[derive(Debug, Default)]
pub(super) struct FileStore {
    whole: BTreeMap<String, Arc<[u8]>>,
    /// Files whose last part has not arrived: the number of parts that have, and their bytes.
    begun: BTreeMap<String, (u64, Vec<u8>)>,
    /// When a coordinator last spoke of files.
    used: Option<Instant>,
}

impl FileStore {
    /// Returns the digests of a load's files that are not here.
    pub fn missing(&mut self, load: &LoadMessage) -> Vec<String> {
        self.used = Some(Instant::now());
        let digests: BTreeSet<_> = load.files.values().filter(|digest| !self.whole.contains_key(*digest)).collect();
        digests.into_iter().cloned().collect()
    }

    /// Returns the files of a load by their paths. Those of other loads are forgotten.
    pub fn take(&mut self, load: &LoadMessage) -> BTreeMap<String, Arc<[u8]>> {
        let named: BTreeSet<_> = load.files.values().collect();
        self.whole.retain(|digest, _| named.contains(digest));
        self.begun.clear();
        let content = |(path, digest): (&String, &String)| Some((path.clone(), Arc::clone(self.whole.get(digest)?)));
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
    /// In one line, if parts are missing, the file is another than the digest says, or there is no room.
    pub fn add(&mut self, part: &FilePart) -> Result<(), String> {
        self.used = Some(Instant::now());
        if self.whole.contains_key(&part.digest) {
            return Ok(());
        }
        let held = self.bytes();
        let (arrived, content) = self.begun.entry(part.digest.clone()).or_default();
        if part.part < *arrived {
            return Ok(());
        }
        if part.part > *arrived {
            return Err("a part of a file is missing".into());
        }
        let bytes = load::bytes(part)?;
        if held + bytes.len() > MOST_BYTES {
            *self = Self::default();
            return Err(format!("it holds no more than {} MiB of files", MOST_BYTES >> 20));
        }
        *arrived += 1;
        content.extend(bytes);
        if part.last {
            let (_, content) = self.begun.remove(&part.digest).unwrap_or_default();
            if load::digest(&content) != part.digest {
                return Err("a file is another than its digest says".into());
            }
            self.whole.insert(part.digest.clone(), content.into());
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let begun = self.begun.values().map(|(_, content)| content.len());
        self.whole.values().map(|content| content.len()).chain(begun).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_of(digests: &[&str]) -> LoadMessage {
        let files = digests.iter().map(|&digest| (format!("file of {digest}"), digest.to_owned())).collect();
        LoadMessage { files, ..LoadMessage::default() }
    }

    #[test]
    fn files_arrive_in_parts_and_stay_for_their_load() {
        let mut store = FileStore::default();
        let content = vec![7; 2_000_000];
        let digest = load::digest(&content);
        let load = load_of(&[&digest]);
        let parts: Vec<_> = load::parts(&digest, &content).collect();
        assert!(store.add(&parts[1]).is_err(), "the first part comes first");
        for part in &parts {
            assert_eq!(store.missing(&load), std::slice::from_ref(&digest));
            store.add(part).expect("it fits");
            store.add(part).expect("again is no harm");
        }
        assert_eq!(store.missing(&load), [""; 0]);
        assert_eq!(*store.take(&load)[&format!("file of {digest}")], *content);
        assert!(store.take(&load_of(&[])).is_empty());
        assert_eq!(store.missing(&load), [digest], "those of other loads are forgotten");
        parts.iter().for_each(|part| store.add(part).expect("it fits"));
        store.forget_after(Duration::from_secs(60));
        assert_eq!(store.missing(&load), [""; 0]);
        store.forget_after(Duration::ZERO);
        assert_eq!(store.bytes(), 0, "so are those of a coordinator that is gone");
    }

    #[test]
    fn what_is_not_what_it_claims_or_too_much_is_refused() {
        let mut store = FileStore::default();
        let other = load::parts("0123", b"x").next().expect("there is one");
        assert!(store.add(&other).is_err_and(|why| why.contains("digest")));
        let big = vec![0; 1 << 20];
        let refused = (0_u64..).find_map(|part| {
            let part =
                FilePart { digest: "big".into(), part, last: false, content: load::parts("big", &big).next()?.content };
            store.add(&part).err()
        });
        assert!(refused.is_some_and(|why| why.contains("64 MiB")) && store.bytes() == 0);
    }
}
