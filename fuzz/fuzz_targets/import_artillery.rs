//! Gives what the fuzzer makes up to the check of this name.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| torr_fuzz_checks::imports::artillery(bytes));
