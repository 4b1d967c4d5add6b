//! What a program says when its user stops it in the middle of its work.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::out;

/// The words for the present step; `None` before the first one.
static WORDS: Mutex<Option<&'static str>> = Mutex::new(None);

/// Sets what is said from now on if the program is stopped by Ctrl-C, or by another program. Then it ends as by that
/// signal, wherever it is. Nothing is said, and no signal is handled, where standard error is not a terminal.
pub fn say(words: &'static str) {
    let before = WORDS.lock().unwrap_or_else(PoisonError::into_inner).replace(words);
    if before.is_some() || !std::io::stderr().is_terminal() {
        return;
    }
    // Without the handler a signal ends the program as well, but without words.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    drop(thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let words = *WORDS.lock().unwrap_or_else(PoisonError::into_inner);
            // After the bar, or the ^C of the terminal.
            out::error(&format!("\nherma: {}", words.unwrap_or("stopped")));
            drop(emulate_default_handler(signal));
        }
    }));
}
