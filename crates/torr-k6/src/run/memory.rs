//! Whether the memory that is available is enough for all virtual users: without that a run would end half-way, killed by the system.

use crate::error::ScriptError;

/// The memory in bytes that a virtual user takes at least beside its script: pages of its stack, its place and its connection.
const BESIDE_SCRIPT: u64 = 24 * 1024;

/// Finds a number of virtual users that cannot exist before the run begins. `script` is the memory in bytes that a script takes behind its
/// top level, `available` that of the machine; without it nothing is said.
///
/// # Errors
/// If the users take more memory than there is, with the number that fits.
pub(super) fn check(users: usize, script: u64, available: Option<u64>) -> Result<(), ScriptError> {
    let Some(available) = available else { return Ok(()) };
    let each = script.saturating_add(BESIDE_SCRIPT);
    let most = available / each;
    if users as u64 <= most {
        return Ok(());
    }
    let (kibibytes, mebibytes) = (each.div_ceil(1024), available >> 20);
    Err(ScriptError::config(format!(
        "cannot run {users} virtual users: each takes about {kibibytes} KiB of memory, and {mebibytes} MiB are available; \
         use at most {most}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn users_have_to_fit_the_memory() {
        let (script, available) = (100 * 1024, 1 << 30);
        assert_eq!(check(8_000, script, Some(available)), Ok(()));
        assert_eq!(check(usize::MAX, script, None), Ok(()));
        let error = check(1_000_000, script, Some(available)).expect_err("they take 118 GiB");
        let expected = "cannot run 1000000 virtual users: each takes about 124 KiB of memory, and 1024 MiB are available; use at most 8456";
        assert_eq!((error.message.as_str(), error.kind), (expected, ErrorKind::Config));
        assert!(check(1, u64::MAX, Some(available)).is_err());
        assert_eq!(check(0, u64::MAX, Some(0)), Ok(()));
    }
}
