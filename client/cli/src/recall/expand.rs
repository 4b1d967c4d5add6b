//! `herma recall --expand HANDLE`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::recall::{ExpandParams, ExpandResult, Item};

use super::Arguments;
use crate::names;

/// The default number of tokens of one page that a person reads.
const PAGE: u64 = 2_000;

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments, handle: &str) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let params = ExpandParams {
        handle: names::output::resolve(&mut client, handle)?,
        before: arguments.before,
        after: arguments.after,
        tokens: arguments.tokens.or((!context.common.json).then_some(PAGE)),
        about: arguments.about.clone(),
        messages: (!context.common.json).then_some(false),
        ..ExpandParams::default()
    };
    let result = client.recall_expand(params)?;
    out::show(context.common, &result, items)?;
    if let Some(next) = result.next.filter(|_| !context.common.json) {
        let look = context.common.command(&format!("recall --expand {next}"));
        out::note(context.common, &format!("it goes on: {look}"));
    }
    Ok(())
}

/// Returns the items after their handles, with an empty line between them.
fn items(result: &ExpandResult) -> String {
    let shown = |item: &Item| {
        let role = item.role.as_deref().map_or(String::new(), |role| format!("  {role}"));
        let part = item
            .part
            .as_ref()
            .map_or(String::new(), |part| format!("  chars {} to {} of {}", part.start + 1, part.end, part.chars));
        format!("{}{role}{part}\n{}\n", item.handle, item.text.trim_end_matches('\n'))
    };
    result.items.iter().map(shown).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::recall::ItemPart;

    use super::*;

    #[test]
    fn items_stand_under_their_handles() {
        let item = |handle: &str, role: Option<&str>, text: &str| Item {
            handle: handle.into(),
            role: role.map(str::to_owned),
            text: text.into(),
            ..Item::default()
        };
        let part = Item { part: Some(ItemPart { start: 10, end: 14, chars: 90 }), ..item("msg_2", None, "part") };
        let result = ExpandResult {
            items: vec![item("msg_1", Some("user"), "where?\n"), item("out_1:7", None, "here\nand there"), part],
            ..ExpandResult::default()
        };
        assert_eq!(
            items(&result),
            "msg_1  user\nwhere?\n\nout_1:7\nhere\nand there\n\nmsg_2  chars 11 to 14 of 90\npart\n"
        );
    }
}
