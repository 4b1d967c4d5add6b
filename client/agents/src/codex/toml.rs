//! Edits Codex's `config.toml`. The order, comments and format of the rest stay as they are. No I/O.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::settings::SERVER;

/// Adds or replaces an MCP server, or removes it with `None`.
///
/// # Errors
/// The text is not TOML, or the entry for servers has the wrong type, or another program has this name.
pub(super) fn with_server(text: &str, name: &str, server: Option<(&str, &[String])>) -> Result<String, String> {
    let mut document = parse(text)?;
    let known = document.get("mcp_servers").and_then(|servers| servers.get(name));
    let is_foreign = known.is_some_and(|known| !is_own_server(known));
    let Some((program, arguments)) = server else {
        if is_foreign {
            return Ok(text.to_owned());
        }
        remove(&mut document, "mcp_servers", name);
        return Ok(document.to_string());
    };
    if is_foreign {
        return Err(format!("the MCP server `{name}` is another program than herma; give it another name"));
    }
    let servers = table(document.as_table_mut(), "mcp_servers")?;
    let server = table(servers, name)?;
    set(server, "command", program.into());
    set(server, "args", arguments.iter().collect::<Array>().into());
    Ok(document.to_string())
}

/// The field with the hash of a trusted hook.
const TRUSTED_HASH: &str = "trusted_hash";

/// The field with the hash of the plugin that a trusted hook belongs to.
const TRUSTED_CONTENT: &str = "trusted_content_hash";

/// Adds the hashes of trusted hooks by their keys, and removes those of the keys in `gone`.
///
/// # Errors
/// The text is not TOML, or the entry for trusted hooks has the wrong type.
pub(super) fn with_trust(text: &str, gone: &[String], trusted: &[(String, String)]) -> Result<String, String> {
    let mut document = parse(text)?;
    if let Some(states) =
        document.get_mut("hooks").and_then(|hooks| hooks.get_mut("state")).and_then(Item::as_table_mut)
    {
        gone.iter().for_each(|key| drop(states.remove(key)));
    }
    for (key, hash) in trusted {
        let hooks = table(document.as_table_mut(), "hooks")?;
        let state = table(table(hooks, "state")?, key)?;
        // Codex gives the hash of a plugin's hook together with that of the plugin, and keeps them apart.
        let (own, content) = hash.split_once('/').map_or((hash.as_str(), None), |(own, all)| (own, Some(all)));
        set(state, TRUSTED_HASH, own.into());
        match content {
            Some(content) => set(state, TRUSTED_CONTENT, content.into()),
            None => drop(state.remove(TRUSTED_CONTENT)),
        }
    }
    if let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_mut) {
        if hooks.get("state").and_then(Item::as_table).is_some_and(Table::is_empty) {
            hooks.remove("state");
        }
        if hooks.is_empty() {
            document.remove("hooks");
        }
    }
    Ok(document.to_string())
}

/// Returns whether two texts are the same apart from blanks.
#[cfg(test)]
fn says_the_same(one: &str, other: &str) -> bool {
    // People see the order and the format, so only blanks may differ.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    parse(one).is_ok() && words(one) == words(other)
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// Returns a table inside a table, and creates it if it is missing.
fn table<'a>(table: &'a mut Table, name: &str) -> Result<&'a mut Table, String> {
    let item = table.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_mut().ok_or_else(|| format!("`{name}` is no table of its own"))
}

/// Adds herma's server and the trusted hooks that are in `installed` to another text.
///
/// # Errors
/// One of the texts is not TOML, or `mcp_servers` or `hooks` is not a table.
pub(super) fn reinstall(installed: &str, text: &str) -> Result<String, String> {
    let known = parse(installed)?;
    let server =
        known.get("mcp_servers").and_then(|servers| servers.get(SERVER)).filter(|server| is_own_server(server));
    let words = |server: &Item| {
        let program = server.get("command").and_then(Item::as_str).unwrap_or_default().to_owned();
        let arguments = server.get("args").and_then(Item::as_array).into_iter().flatten();
        (program, arguments.filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>())
    };
    let server = server.map(words);
    let server = server.as_ref().map(|(program, arguments)| (program.as_str(), arguments.as_slice()));
    let states = |document: &DocumentMut| {
        let states = document.get("hooks").and_then(|hooks| hooks.get("state")).and_then(Item::as_table);
        let hash = |(key, state): (&str, &Item)| {
            let field = |name: &str| state.get(name).and_then(Item::as_str);
            let hashes = field(TRUSTED_HASH).into_iter().chain(field(TRUSTED_CONTENT));
            field(TRUSTED_HASH).map(|_| (key.to_owned(), hashes.collect::<Vec<_>>().join("/")))
        };
        states.into_iter().flat_map(Table::iter).filter_map(hash).collect::<Vec<_>>()
    };
    let before = states(&parse(text)?);
    let trusted: Vec<_> = states(&known).into_iter().filter(|state| !before.contains(state)).collect();
    let text = with_server(text, SERVER, server)?;
    if trusted.is_empty() { Ok(text) } else { with_trust(&text, &[], &trusted) }
}

/// Returns the program of herma's MCP server.
pub(super) fn program(text: &str) -> Option<String> {
    let document = parse(text).ok()?;
    let server = document.get("mcp_servers")?.get(SERVER).filter(|server| is_own_server(server))?;
    Some(server.get("command")?.as_str()?.to_owned())
}

/// Returns whether an MCP server is herma's.
fn is_own_server(server: &Item) -> bool {
    let program = server.get("command").and_then(Item::as_str).and_then(|program| program.rsplit('/').next());
    let first = server.get("args").and_then(Item::as_array).and_then(|arguments| arguments.get(0));
    program == Some("herma") && first.and_then(toml_edit::Value::as_str) == Some("mcp")
}

/// Sets a value if it differs.
fn set(table: &mut Table, name: &str, new: toml_edit::Value) {
    let shown = |value: &toml_edit::Value| value.clone().decorated("", "").to_string();
    if table.get(name).and_then(Item::as_value).map(shown) != Some(shown(&new)) {
        table.insert(name, value(new));
    }
}

fn remove(document: &mut DocumentMut, outer: &str, inner: &str) {
    if let Some(table) = document.get_mut(outer).and_then(Item::as_table_mut) {
        table.remove(inner);
        if table.is_empty() {
            document.remove(outer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 4] = [
        "",
        "model = \"x\" # mine\n",
        "# mine\n[mcp_servers.other]\ncommand = \"y\"\n\n[analytics]\nenabled = false\n",
        "[hooks.state.\"/other/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
    ];

    #[test]
    fn a_server_comes_and_goes() {
        let arguments = ["mcp".to_owned()];
        for text in TEXTS {
            let with = with_server(text, "herma", Some(("/herma", &arguments))).unwrap();
            assert!(with.contains("[mcp_servers.herma]\ncommand = \"/herma\"\nargs = [\"mcp\"]"), "{with}");
            assert_eq!(with_server(&with, "herma", Some(("/herma", &arguments))).unwrap(), with);
            assert!(says_the_same(&with_server(&with, "herma", None).unwrap(), text), "{with}");
        }
    }

    #[test]
    fn trust_comes_and_goes_and_that_of_others_stays() {
        let key = |event: &str| format!("/c/hooks.json:{event}:0:0");
        let both = [(key("stop"), "sha256:2".to_owned()), (key("session_start"), "sha256:3".to_owned())];
        for text in TEXTS {
            let with = with_trust(text, &[], &both).unwrap();
            assert!(with.contains("[hooks.state.\"/c/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:2\""), "{with}");
            assert_eq!(with_trust(&with, &[], &both).unwrap(), with);
            let one = with_trust(&with, &[key("stop")], &[]).unwrap();
            assert!(one.contains("session_start") && !one.contains("/c/hooks.json:stop"), "{one}");
            assert!(says_the_same(&with_trust(&one, &[key("session_start")], &[]).unwrap(), text), "{one}");
        }
    }

    #[test]
    fn the_hash_of_a_plugins_hook_has_two_parts() {
        let hook = [("herma@herma:hooks/hooks.json:stop:0:0".to_owned(), "sha256:2/sha256:3".to_owned())];
        let with = with_trust("", &[], &hook).unwrap();
        assert!(with.ends_with("trusted_hash = \"sha256:2\"\ntrusted_content_hash = \"sha256:3\"\n"), "{with}");
        assert_eq!(reinstall(&with, "").unwrap(), with);
        assert_eq!(with_trust(&with, &[hook[0].0.clone()], &[]).unwrap(), "");
    }

    #[test]
    fn what_is_of_another_kind_is_said_and_left_alone() {
        for text in ["mcp_servers = 7\n", "= 1", "mcp_servers.herma = 7\n"] {
            assert!(with_server(text, "herma", Some(("x", &[]))).is_err(), "{text}");
        }
    }
}
