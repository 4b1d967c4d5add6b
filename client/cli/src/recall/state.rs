//! `herma recall --state SESSION [QUERY]`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::recall::{Attribute, Entity, StateParams};

use super::Arguments;
use crate::names;

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments, id: &str) -> Result<(), Failure> {
    let entity = (!arguments.query.is_empty()).then(|| arguments.query.join(" "));
    let (mut client, id) = names::session::connect(context, id)?;
    let id = id.as_str();
    let params = StateParams { session: id.to_owned(), entity, limit: arguments.limit };
    let result = client.recall_state(params)?;
    if context.common.json {
        out::json(&result)?;
    } else if result.entities.is_empty() {
        out::note(context.common, &format!("{id} has no entity with that name"));
    } else {
        out::text(&table(&result.entities))?;
        if result.more {
            out::note(context.common, "there are more; raise --limit, or name one");
        }
    }
    if result.entities.is_empty() { Err(Failure::No) } else { Ok(()) }
}

fn table(entities: &[Entity]) -> String {
    let cells = |entity: &Entity| {
        let known: Vec<String> = entity.attributes.iter().map(known).collect();
        [entity.kind.clone(), entity.id.clone(), entity.handle.clone(), known.join("; ")]
    };
    let rows: Vec<[String; 4]> = entities.iter().map(cells).collect();
    out::table(["kind", "name", "last named in", "known"], &rows)
}

fn known(attribute: &Attribute) -> String {
    let was = attribute.was.as_ref().map_or(String::new(), |was| format!(" (was {was})"));
    format!("{} {}{was}", attribute.name, attribute.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_a_table() {
        let attribute =
            Attribute { name: "status".into(), value: "paid".into(), was: Some("open".into()), handle: "msg_7".into() };
        let entity = Entity {
            kind: "order".into(),
            id: "A-1177".into(),
            attributes: vec![attribute],
            handle: "msg_9".into(),
            ..Entity::default()
        };
        assert_eq!(
            table(&[entity]),
            "kind   name    last named in  known\norder  A-1177  msg_9          status paid (was open)\n"
        );
    }
}
