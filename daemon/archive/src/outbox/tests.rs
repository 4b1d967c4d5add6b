use super::*;
use crate::testing::{archive, said, session};

fn ids(outbox: &Outbox) -> Vec<u64> {
    outbox.messages.iter().map(|message| message.id).collect()
}

fn told(archive: &mut Archive, session: &str, texts: &[&str]) {
    let bodies: Vec<String> = texts.iter().map(|text| said("user", text)).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let next = archive.reader().transcript(session).unwrap().len() as u64;
    archive.append(session, 0, next, &bodies, 1.0).unwrap();
}

fn default() -> Vec<String> {
    vec!["default".to_owned()]
}

fn gone_of(session: &str, below: u64) -> Gone {
    Gone { session: session.into(), below, birth: None, term: None }
}

#[test]
fn what_is_to_be_brought_goes_on_where_it_was_noted() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.create_session(&crate::session::SessionRow { profile: "own".into(), ..session("t") }).unwrap();
    archive.create_session(&session("u")).unwrap();
    archive.save_settings("u", r#"{"host_bound":true}"#).unwrap();
    archive.save_settings("s", "no object").unwrap();
    assert_eq!(archive.reader().host_bound().unwrap(), ["u"]);
    told(&mut archive, "s", &["one", "two"]);
    told(&mut archive, "t", &["of another profile"]);
    told(&mut archive, "u", &["of this host"]);
    told(&mut archive, "s", &["three"]);
    let all = archive.reader().outbox(0, &default(), (100, 1 << 20), |_| None).unwrap();
    assert_eq!((ids(&all), all.through), (vec![1, 2, 5], 5));
    assert_eq!(archive.reader().unshipped(&default()).unwrap(), 3);
    assert!(all.messages[0].is_found && all.messages[0].body.contains("one"));
    let few = archive.reader().outbox(0, &default(), (3, 1 << 20), |_| None).unwrap();
    assert_eq!((ids(&few), few.through), (vec![1, 2], 3));
    let small = archive.reader().outbox(0, &default(), (100, 1), |_| None).unwrap();
    assert_eq!((ids(&small), small.through), (vec![1], 1));
    let identity = archive.reader().shipped().unwrap().identity;
    archive.note_shipped(identity, 3).unwrap();
    archive.note_shipped(identity, 1).unwrap();
    archive.note_shipped(identity.wrapping_add(1), 9).unwrap();
    let rest = archive.reader().outbox(3, &default(), (100, 1 << 20), |_| None).unwrap();
    assert_eq!((ids(&rest), rest.through), (vec![5], 5));
    archive.note_shipped(identity, 5).unwrap();
    assert_eq!(
        archive.reader().outbox(5, &default(), (100, 1 << 20), |_| None).unwrap(),
        Outbox { messages: vec![], through: 5, is_all: true }
    );
    archive.begin_shipping(&default()).unwrap();
    assert_eq!(archive.reader().unshipped(&default()).unwrap(), 3);
    archive.note_shipped(identity, 5).unwrap();
    archive.begin_shipping(&default()).unwrap();
    assert_eq!(archive.reader().unshipped(&default()).unwrap(), 0);
    archive.begin_shipping(&[]).unwrap();
    archive.begin_shipping(&default()).unwrap();
    assert_eq!(archive.reader().unshipped(&default()).unwrap(), 3);
    archive.note_sent(identity, 7).unwrap();
    archive.note_shipped(identity, 5).unwrap();
    archive.upload_again_after(identity, 2).unwrap();
    let shipped = archive.reader().shipped().unwrap();
    assert_eq!((shipped.sent, shipped.through), (7, 2));
    archive.reset_identity().unwrap();
    let shipped = archive.reader().shipped().unwrap();
    assert_eq!((shipped.sent, shipped.through), (0, 0));
    assert_ne!(archive.reader().shipped().unwrap().identity, identity);
}

#[test]
fn a_session_that_goes_is_remembered_once_anything_may_be_there() {
    let (_folder, mut archive) = archive();
    for name in ["s", "t"] {
        archive.create_session(&session(name)).unwrap();
        told(&mut archive, name, &["one"]);
    }
    archive.remove_session("s").unwrap();
    assert_eq!(archive.reader().gone_sessions(10).unwrap(), []);
    archive.begin_shipping(&default()).unwrap();
    archive.remove_session("t").unwrap();
    let gone = archive.reader().gone_sessions(10).unwrap();
    assert_eq!(gone, [gone_of("t", 3)]);
    archive.forget_gone(&gone).unwrap();
    archive.schedule_removal("kept").unwrap();
    let taken = archive.reader().gone_sessions(10).unwrap();
    assert_eq!(taken, [gone_of("kept", 3)]);
    archive.forget_gone(&taken).unwrap();
    assert_eq!(archive.reader().gone_sessions(10).unwrap(), []);
}

#[test]
fn a_message_without_words_is_not_found() {
    assert_eq!(words_of(&said("user", "...")), None);
    let words = words_of(&said("user", "the Bookings of handleRequest 数据库?")).unwrap();
    assert_eq!(words.words, "the bookings of handlerequest 数据 据库 库");
    assert_eq!(words.others, "book handl handle request");
    assert_eq!((words.count, words.marks), (7, 1));
}
