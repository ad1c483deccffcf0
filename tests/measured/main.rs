//! Tests that measure times or CPU use: each begins with [`alone`](torr_test_support::alone), or with
//! [`beside`](torr_test_support::beside) where another of the latter does no harm.
//!
//! They stand in a program of their own, since the tests of other programs run several at once and need no such call.

mod compare;
mod doctor;
mod doctor_compare;
mod limit;
mod metronome;
mod open_loop;
mod passive;
mod peers;
mod printed;
mod truth_metronome;
mod truth_stall;
mod truth_validity;
