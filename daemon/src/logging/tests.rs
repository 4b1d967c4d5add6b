use std::sync::Arc;

use super::*;

/// The bytes written to the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().map_err(|_| std::io::ErrorKind::Other)?.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn words_of_others_stay_in_their_line() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .with_target(false)
        .fmt_fields(fields())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        let words = "two\nlines \u{1b}[2J\u{202e}";
        tracing::warn!(session = %words, "it said {words}");
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{text:?}");
    assert!(text.contains("it said two␊lines ␛[2J<U+202E> session=two␊lines ␛[2J<U+202E>"), "{text:?}");
}
