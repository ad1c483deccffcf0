//! Threads that compute a receipt under a mutex on the heap, and render a page outside of it.
use std::hint::black_box;
use std::io::Write;
use std::sync::{Arc, Mutex};

#[inline(never)]
fn compute_receipt(total: &mut u64) {
    for round in 0..400_000_u64 {
        *total = black_box(total.rotate_left(5) ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[inline(never)]
fn checkout(ledger: &Mutex<u64>) {
    let mut total = ledger.lock().expect("no thread panics");
    compute_receipt(&mut total);
}

#[inline(never)]
fn render(page: &mut u64) {
    for round in 0..4_000_u64 {
        *page = black_box(page.wrapping_add(round));
    }
}

fn main() {
    let ledger = Arc::new(Mutex::new(1));
    for _ in 0..6 {
        let ledger = Arc::clone(&ledger);
        std::thread::spawn(move || {
            let mut page = 0;
            loop {
                checkout(&ledger);
                render(&mut page);
            }
        });
    }
    println!("ready");
    std::io::stdout().flush().expect("it is a pipe");
    loop {
        std::thread::park();
    }
}
