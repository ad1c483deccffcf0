//! Memory that is about to be used: a hint to the CPU, which reads it while the program does something else.
//!
//! What a thousand connections or users have each of their own is in no cache of the CPU when their turn comes. Read one after another as it is
//! needed, it keeps the CPU waiting each time; requested together and early, it does not.

use std::ptr;

/// The number of bytes that the CPU reads at a time.
const LINE: usize = 64;

/// Has the CPU bring a value into its nearest cache.
#[inline]
pub fn value<T>(value: &T) {
    addresses(ptr::from_ref(value).addr(), size_of::<T>());
}

/// Has the CPU bring so many bytes from an address on into its nearest cache. They are not waited for, and no address is wrong.
#[inline]
pub fn addresses(from: usize, bytes: usize) {
    let end = from.saturating_add(bytes);
    let mut line = from & !(LINE - 1);
    while line < end {
        hint(line);
        line = line.saturating_add(LINE);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code)]
fn hint(line: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction changes neither memory nor registers, and has no effect where no memory has this address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::without_provenance(line)) }
}

#[cfg(target_arch = "aarch64")]
#[inline]
#[allow(unsafe_code)]
fn hint(line: usize) {
    // SAFETY: the instruction changes neither memory nor registers, and has no effect where no memory has this address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{line}]", line = in(reg) line, options(readonly, nostack, preserves_flags));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
fn hint(_line: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_wrong() {
        addresses(0, 4096);
        addresses(usize::MAX - LINE, LINE);
        value(&[1u8; 1000]);
    }
}
