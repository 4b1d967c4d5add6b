//! A catalog that is damaged, torn, of a newer version, or can't be written.

use super::*;

impl Home {
    /// Changes the lines of the catalog's file.
    fn change(&self, change: impl Fn(&str) -> Option<String>) {
        let lines = std::fs::read_to_string(self.catalog()).unwrap();
        let changed: String = lines.split_inclusive('\n').filter_map(change).collect();
        file::replace(&self.catalog(), changed.as_bytes(), TEMPORARY).unwrap();
    }
}

/// A row that was damaged made an answered output look like one that was only begun, and
/// the sweep removed it.
#[test]
fn an_answered_output_stays_when_its_row_or_any_other_says_nothing() {
    let wrong = |line: &str| line.replacen(":{", ":{ ", 1);
    let newer = |line: &str| line.replacen("\"kept\"", "\"moved\"", 1);
    for change in [wrong, newer] {
        let home = Home::new();
        let (outputs, _) = home.open();
        let kept = keep(&outputs, "s", "1", "text");
        let expired = keep(&outputs, "s", "2", "again");
        outputs.remove(&expired.handle.to_string(), NOW).unwrap();
        assert_eq!(keep(&outputs, "s", "2", "again"), expired);
        drop(outputs);
        let begun_again = std::cell::Cell::new(0);
        home.change(|line| {
            if !line.contains("2.txt") {
                return Some(if line.contains("\"kept\"") { change(line) } else { line.to_owned() });
            }
            begun_again.set(begun_again.get() + 1);
            // Of the second one it is known that it expired, and nothing after that.
            (begun_again.get() <= 3 || line.contains("\"expired\"")).then(|| line.to_owned())
        });
        let (outputs, swept) = home.open();
        assert_eq!((swept.orphans, swept.adopted), (0, 2));
        assert_eq!(outputs.read(&kept.handle.to_string()).unwrap(), "text");
        assert_eq!(outputs.read(&expired.handle.to_string()).unwrap(), "again");
        assert_eq!(&*outputs.record(kept.handle).unwrap().tool, "terminal");
        assert_eq!(home.open().1, Swept::default());
    }
}

#[test]
fn a_torn_begin_at_the_end_is_no_doubt_and_is_not_there_the_next_time() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let row = |id: &str| {
        crate::catalog::row::Row::Begin(crate::catalog::row::Begun {
            handle: Handle::of(&format!("s/{id}.txt")).to_string(),
            session: "s".into(),
            profile: "default".into(),
            tool: "terminal".into(),
            id: id.into(),
            file: format!("s/{id}.txt"),
        })
    };
    outputs.catalog().append(&row("1"));
    outputs.catalog().append(&row("2"));
    drop(outputs);
    home.write("s/1.txt", "unanswered");
    let bytes = std::fs::read(home.catalog()).unwrap();
    file::replace(&home.catalog(), &bytes[..bytes.len() - 20], TEMPORARY).unwrap();
    assert_eq!(home.open().1, Swept { orphans: 1, ..Swept::default() });
    assert!(home.open().0.take_notices().is_empty());
}
