//! Tests that measure times or CPU use: each of these begins with [`alone`](torr_test_support::alone). Tests of the same subjects that
//! measure nothing begin with [`beside`](torr_test_support::beside).
//!
//! They stand in a program of their own, since the tests of other programs run several at once and need no such call. What only a quiet
//! machine can keep is asserted by [`quiet!`](torr_test_support::quiet) within
//! [`measured`](torr_test_support::measured::measured). Those that take long run with
//! `--include-ignored` only.

mod budget;
mod compare;
mod connections;
mod demo;
mod doctor;
mod doctor_compare;
mod limit;
mod metronome;
mod open_loop;
mod passive;
mod peers;
mod printed;
mod times;
mod truth_metronome;
mod truth_stall;
mod truth_validity;
