//! `herma recall --expand HANDLE`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::recall::{ExpandParams, ExpandResult, Item};

use super::Arguments;

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments, handle: &str) -> Result<(), Failure> {
    let params = ExpandParams {
        handle: handle.to_owned(),
        before: arguments.before,
        after: arguments.after,
        ..ExpandParams::default()
    };
    let result = context.connect()?.recall_expand(params)?;
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
        format!("{}{role}\n{}\n", item.handle, item.text.trim_end_matches('\n'))
    };
    result.items.iter().map(shown).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_under_their_handles() {
        let item = |handle: &str, role: Option<&str>, text: &str| Item {
            handle: handle.into(),
            role: role.map(str::to_owned),
            text: text.into(),
            message: None,
        };
        let result = ExpandResult {
            items: vec![item("msg_1", Some("user"), "where?\n"), item("out_1:7", None, "here\nand there")],
            ..ExpandResult::default()
        };
        assert_eq!(items(&result), "msg_1  user\nwhere?\n\nout_1:7\nhere\nand there\n");
    }
}
