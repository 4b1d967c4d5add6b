//! Whether a message begins another task.

use std::sync::LazyLock;

use crate::pattern::Pattern;
use crate::text::head;

/// Chars at the beginning of a message that can announce a task.
const LOOK_CHARS: usize = 200;

static ANNOUNCED: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)^\W*(?:(?:ok(?:ay)?|great|good|perfect|thanks?(?:\ you)?|alright|right|all\ right|done|nice|fine)\b[\s,.!;:-]*){0,3}
        (?: next\ (?:task|thing|up|one|step)\b | next\s*[,:] | now\ (?:for|to|on|the\ next|let['’]?s|please|we|something)\b
          | new\ (?:task|topic|job|request|request)\b | another\ (?:task|thing|topic|job)\b | (?:a\ )?different\ (?:task|topic|thing)\b
          | (?:let['’]?s|we\ can|we['’]?ll|time\ to)\ (?:move\ on|switch|turn\ to|go\ on\ (?:to|with)|start\ (?:on|with|a\ new)) | moving\ on\b | on\ to\ the\ next\b
          | switching\ to\b | (?:that|this)(?:['’]s|\ is)\ (?:done|finished|all\ for)\b | we(?:['’]re|\ are)\ done\ with\b
          | neue\ aufgabe\b | als\ nächstes\b | nächste\ aufgabe\b | siguiente\ tarea\b | nueva\ tarea\b | ahora\ vamos\b
          | nouvelle\ tâche\b | passons\ à\b | ensuite\s*[,:] | 下一个任务 | 下一步 | 新任务 | 接下来 | 次のタスク | 次は )",
    )
});

/// Whether the user begins something new.
pub(super) fn begins(text: &str) -> bool {
    ANNOUNCED.is_match(head(text.trim_start(), LOOK_CHARS))
}
