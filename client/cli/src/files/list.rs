//! `herma files list`.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Failure};
use herma_client::protocol::files::{File, ListParams, ListResult, Usage};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The files lie in <home>/herma/files/<profile>/ and may be edited there.\n\nExamples:\n  herma files list\n  herma files list notes/\n  herma files list --json"
)]
pub(crate) struct Arguments {
    /// Only this file, or the files in this folder
    path: Option<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let params = ListParams { path: arguments.path.as_deref().map(super::path) };
    let result = context.connect()?.files_list(params)?;
    out::show(context.common, &result, shown)
}

fn shown(result: &ListResult) -> String {
    let mut text = if result.files.is_empty() {
        "No memory files yet. They appear when a model uses the tool memory_20250818.\n".to_owned()
    } else {
        let cells = |file: &File| {
            [file.path.clone(), out::size(file.bytes), file.revision.to_string(), out::when(file.modified_at)]
        };
        let rows: Vec<[String; 4]> = result.files.iter().map(cells).collect();
        let sides = [Align::Left, Align::Right, Align::Right, Align::Left];
        out::sided(["path", "size", "revision", "written"], sides, &rows)
    };
    for ignored in &result.ignored {
        text.push_str(&format!("{} is left alone: {}\n", ignored.path, ignored.reason));
    }
    let Usage { files, files_limit, bytes, quota, file_limit } = result.usage;
    text.push_str(&format!(
        "revision {}; {} of {} files, {} of {}, each up to {}\n",
        result.revision,
        out::thousands(files),
        out::thousands(files_limit),
        out::size(bytes),
        out::size(quota),
        out::size(file_limit),
    ));
    text
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::files::IgnoredFile;

    use super::*;

    #[test]
    fn files_are_listed_with_what_is_left_alone_and_the_room() {
        let usage = Usage { files: 1, files_limit: 1000, bytes: 2048, quota: 4 << 20, file_limit: 64 << 10 };
        let file = File { path: "/memories/a.md".into(), bytes: 2048, revision: 7, modified_at: 0.0 };
        let ignored = IgnoredFile { path: "/memories/l".into(), reason: "it is a link".into() };
        let result = ListResult { revision: 9, files: vec![file], folders: vec![], ignored: vec![ignored], usage };
        let text = shown(&result);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("/memories/a.md  2.0 KiB         7  "), "{text}");
        assert_eq!(lines[2], "/memories/l is left alone: it is a link");
        assert_eq!(lines[3], "revision 9; 1 of 1,000 files, 2.0 KiB of 4.0 MiB, each up to 64.0 KiB");
        assert!(shown(&ListResult { files: vec![], ..result }).starts_with("No memory files yet."));
    }
}
