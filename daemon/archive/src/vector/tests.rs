use super::*;
use crate::search::{Kinds, Search};
use crate::session::SessionRow;
use crate::testing::{archive, said, session};

fn ids(archive: &Archive, search: &Search<'_>) -> Vec<String> {
    archive.reader().search(search).unwrap().hits.into_iter().map(|hit| hit.source.handle()).collect()
}

#[test]
fn what_is_alike_is_found_without_a_word_of_it() {
    let (_folder, mut archive) = archive();
    for (id, profile) in [("s", "default"), ("t", "work")] {
        archive.create_session(&SessionRow { profile: profile.into(), ..session(id) }).unwrap();
        let texts = [said("user", "the car is broken"), said("user", "a heron nests here")];
        archive.append(id, 0, 0, &[&texts[0], &texts[1]], 2.0).unwrap();
    }
    archive.index_pending(10).unwrap();
    assert_eq!(archive.keep_vectors(Some(3), &[]).unwrap(), SaveVectorsResult::NoEmbedder);
    archive.use_embedder("e").unwrap();
    let waiting = archive.reader().without_vector(0, 10).unwrap();
    assert_eq!(waiting.newest, 4);
    let waiting = waiting.documents;
    assert_eq!(waiting.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(waiting[1].1.text.as_deref(), Some("a heron nests here"));
    let [car, bird] = [[1.0, 0.1, 0.0], [0.0, 0.1, 1.0]].map(|vector| QuantizedVector::of(&vector));
    archive
        .keep_vectors(
            Some(3),
            &[(1, car.clone()), (2, bird.clone()), (3, car), (4, bird), (9, QuantizedVector::none())],
        )
        .unwrap();
    assert_eq!(archive.reader().without_vector(0, 10).unwrap().documents, []);
    assert_eq!(archive.reader().count_vectors().unwrap(), (4, 4));
    let near = |query| Search { vector: Some(&[0.9, 0.0, 0.1]), ..Search::everywhere(query, 9) };
    assert_eq!(ids(&archive, &near("automobile")), ["msg_3", "msg_1"]);
    assert_eq!(ids(&archive, &near("heron nests")), ["msg_4", "msg_2", "msg_3", "msg_1"]);
    assert_eq!(ids(&archive, &near("\"heron nests\"")), ["msg_4", "msg_2"]);
    for (search, expect) in [
        (Search { session: Some("s"), ..near("automobile") }, vec!["msg_1"]),
        (Search { profile: Some("work"), ..near("automobile") }, vec!["msg_3"]),
        (Search { kinds: Kinds::MEMORY, ..near("automobile") }, vec![]),
        (Search { since: Some(3.0), ..near("automobile") }, vec![]),
        (Search { until: Some(3.0), session: Some("t"), since: Some(1.0), ..near("automobile") }, vec!["msg_3"]),
        (Search { vector: Some(&[1.0]), ..near("automobile") }, vec![]),
        (Search { vector: Some(&[0.0, 0.0, 0.0]), ..near("automobile") }, vec![]),
        (Search { vector: Some(&[f32::NAN, 0.0, 0.0]), ..near("automobile") }, vec![]),
    ] {
        assert_eq!(ids(&archive, &search), expect, "{search:?}");
    }
    archive.remove_session("t").unwrap();
    assert_eq!(archive.reader().count_vectors().unwrap(), (2, 2));
    // Vectors with another number of dimensions, or of another embedder, can't be compared with these.
    let replaced = archive.keep_vectors(Some(2), &[(1, QuantizedVector::of(&[1.0, 0.0]))]).unwrap();
    assert_eq!(replaced, SaveVectorsResult::Replaced);
    assert_eq!(archive.reader().count_vectors().unwrap().0, 1);
    archive.use_embedder("e").unwrap();
    assert_eq!(archive.reader().count_vectors().unwrap().0, 1);
    archive.keep_vectors(None, &[(2, QuantizedVector::none())]).unwrap();
    assert_eq!(archive.reader().count_vectors().unwrap().0, 2);
    archive.use_embedder("f").unwrap();
    assert_eq!(archive.reader().count_vectors().unwrap().0, 0);
}
