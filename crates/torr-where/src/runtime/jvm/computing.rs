//! Where threads of a JVM compute at any time, by the kernel's samples: single addresses, at safepoints or not.

use crate::native::cpu::RATE;
use crate::native::perf_event::{Sampling, ThreadEvent};
use std::collections::BTreeMap;

/// The pages of a thread's ring: at the sampling rate it is full after 2 s.
const PAGES: usize = 8;
/// The most threads that are sampled.
const THREADS: usize = 128;
/// The most addresses that are kept.
const ADDRESSES: usize = 100_000;

/// The addresses at which threads compute.
#[derive(Debug, Default)]
pub struct Computing {
    threads: BTreeMap<i32, ThreadEvent>,
    addresses: Vec<u64>,
}

impl Computing {
    /// Samples a thread from now on. Where the kernel permits none, there are no addresses.
    pub fn watch(&mut self, thread: i32) {
        if self.threads.len() >= THREADS || self.threads.contains_key(&thread) {
            return;
        }
        // The time in the kernel is known by the threads' system time.
        let sampling = Sampling { rate: RATE, stack: 0, pages: PAGES, with_kernel: false };
        self.threads.extend(ThreadEvent::of(thread, sampling).ok().map(|event| (thread, event)));
    }

    /// Takes the samples since the last call.
    pub fn take(&mut self) {
        for event in self.threads.values_mut() {
            event.take(|sample| {
                let address = sample.registers.map(|[_, _, address]| address);
                self.addresses.extend(address.filter(|_| self.addresses.len() < ADDRESSES));
            });
        }
    }

    /// Returns all addresses.
    pub fn addresses(mut self) -> Vec<u64> {
        self.take();
        self.addresses
    }
}
