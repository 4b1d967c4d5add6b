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

/// A damaged row made an output whose handle was returned look as if it was only begun, and the sweep removed it.
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
            // The second one is known to be expired, and nothing after that is known.
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

/// One row that could not be written emptied the whole catalog. After a kill, it was unknown which tool an output was
/// of and which ones had expired.
#[test]
fn while_the_catalog_can_not_grow_it_stays_and_no_answered_output_goes() {
    const LIMITED: &str = "HERMA_SPILL_TEST_LIMITED";
    if std::env::var_os(LIMITED).is_none() {
        // No file of that process can be longer than 2 or 4 KiB, depending on the shell's unit.
        let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" --exact \"$1\"";
        let name = "outputs::tests::damage::while_the_catalog_can_not_grow_it_stays_and_no_answered_output_goes";
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(name).env(LIMITED, "1");
        let output = limited.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    for length in (1..100).step_by(16) {
        let home = Home::new();
        let (outputs, _) = home.open();
        let gone = keep(&outputs, "s", "gone", "gone");
        outputs.remove(&gone.handle.to_string(), NOW).unwrap();
        let all: Vec<Kept> =
            (0..20).map(|number| keep(&outputs, "s", &format!("{number}{}", "x".repeat(length)), "text")).collect();
        assert!(!outputs.take_notices().is_empty());
        drop(outputs);
        let (outputs, swept) = home.open();
        assert_eq!((swept.orphans, swept.gone), (0, 0), "{length}");
        assert!(matches!(outputs.read(&gone.handle.to_string()), Err(SpillError::Expired { .. })));
        assert!(all.iter().all(|kept| outputs.read(&kept.handle.to_string()).is_ok()), "{length}");
        assert_eq!(&*outputs.record(all[0].handle).unwrap().tool, "terminal");
    }
}
