//! Tests that measure times or CPU use: each begins with [`alone`](torr_test_support::alone), and so runs beside no other test.
//!
//! They stand in a program of their own, since the other programs run several tests at once.

mod doctor;
mod doctor_compare;
mod limit;
mod metronome;
mod open_loop;
mod peers;
mod printed;
mod truth_metronome;
mod truth_stall;
mod truth_validity;
