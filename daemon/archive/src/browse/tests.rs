use crate::removed::Removal;
use crate::testing::{archive, said, session};

#[test]
fn neighbours_are_of_the_same_session_and_in_order() {
    let (_folder, mut archive) = archive();
    for id in ["s", "t"] {
        archive.create_session(&session(id)).unwrap();
    }
    for position in 0..5 {
        for id in ["s", "t"] {
            archive.append(id, 0, position, &[&said("user", &format!("{id}{position}"))], 7.0).unwrap();
        }
    }
    let around = |id, before, after| -> Vec<u64> {
        archive.reader().around(id, before, after).unwrap().into_iter().map(|message| message.id).collect()
    };
    assert_eq!(around(5, 1, 2), [3, 5, 7, 9]);
    assert_eq!(around(5, 0, 0), [5]);
    assert_eq!(around(1, 9, 0), [1]);
    assert_eq!(around(10, usize::MAX, usize::MAX), [2, 4, 6, 8, 10]);
    assert_eq!(around(99, 1, 1), [0; 0]);
    assert_eq!(around(u64::MAX, 1, 1), [0; 0]);
    let message = archive.reader().around(5, 0, 0).unwrap().remove(0);
    assert_eq!((message.session.as_str(), message.profile.as_str(), message.position), ("s", "default", 2));
    assert_eq!((message.body, message.role.as_deref(), message.compression), (said("user", "s2"), Some("user"), None));
    assert_eq!(archive.reader().around(u64::MAX, 0, 0).unwrap(), []);
}

#[test]
fn what_was_removed_comes_in_pages() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let messages = [(4, "\"d\""), (1, "\"a\""), (2, "\"b\"")];
    let removal = Removal {
        handle: "h",
        session: "s",
        generation: 1,
        time: 1.0,
        summary: "",
        messages: &messages,
        after: None,
        is_transcript: false,
    };
    archive.keep_removed(&removal).unwrap();
    let page = |from, limit| -> Vec<String> {
        archive.reader().removed_page("h", from, limit).unwrap().into_iter().map(|message| message.body).collect()
    };
    assert_eq!(page(0, 2), ["\"a\"", "\"b\""]);
    assert_eq!(page(2, 2), ["\"d\""]);
    assert_eq!(page(3, usize::MAX), [""; 0]);
    assert_eq!(page(usize::MAX, 1), [""; 0]);
    assert_eq!(archive.reader().removed_page("h", 0, 1).unwrap()[0].compression.as_deref(), Some("h"));
}
