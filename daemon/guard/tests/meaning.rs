//! Every pattern against the regular expression that says the same: slow, but plain to read.

use std::sync::LazyLock;

use herma_guard::{Scope, scan};
use proptest::prelude::*;
use regex::Regex;

/// Each pattern's id and expression, in the order of reports. A space is any white space, ` … ` a
/// filler, `\h` white space within the line, `\<` and `\>` the edges of a word.
const EXPRESSIONS: [(&str, &str); 36] = [
    ("prompt_injection", r"ignore … (?:previous|all|above|prior) … instructions"),
    ("sys_prompt_override", r"system prompt override"),
    ("disregard_rules", r"disregard … (?:your|all|any) … (?:instructions|rules|guidelines)"),
    ("bypass_restrictions", r"act as (?:if|though) … you … (?:have no|don['’]t have) … (?:restrictions|limits|rules)"),
    ("html_comment_injection", r"<!--[^>]*?(?:ignore|override|system|secret|hidden)[^>]*?-->"),
    ("hidden_div", r#"<\s*div style\s*=\s*["'](?s:.*?)display\s*:\s*none"#),
    ("translate_execute", r"translate\h.*?\hinto\h.*?\hand\h+(?:execute|run|eval)"),
    ("deception_hide", r"do not … tell … the user"),
    ("role_hijack", r"you are … now (?:a|an|the)\s"),
    ("role_pretend", r"pretend … (?:you are|to be)\s"),
    ("leak_system_prompt", r"output … (?:system|initial) prompt"),
    ("remove_filters", r"(?:respond|answer|reply) without … (?:restrictions|limitations|filters|safety)"),
    ("fake_update", r"you have been … (?:updated|upgraded|patched) to"),
    ("identity_override", r"\<name yourself \w+"),
    ("c2_node_registration", r"register (?:as )?(?:a )?node"),
    ("c2_heartbeat", r"(?:heartbeat|beacon|check-in|check in|checkin) (?:to|with)\s"),
    ("c2_task_pull", r"pull (?:down )?(?:new )?(?:tasking|tasks|task)\>"),
    ("c2_network_connect", r"connect to the network\>"),
    ("forced_action", r"you must (?:\w+ ){0,3}(?:register|connect|report|beacon)\>"),
    ("anti_forensic_oneliner", r"only use one(?:-| )?liners?"),
    ("anti_forensic_disk", r"never … (?:create|write) … (?:script|file) … disk"),
    ("env_var_unset_agent", r"unset \w*(?:CLAUDE|CODEX|HERMES|AGENT|OPENAI|ANTHROPIC)\w*"),
    ("known_c2_framework", KNOWN_FRAMEWORK),
    ("c2_explicit", r"\<c2 (?:server|channel|infrastructure|beacon)\>"),
    ("c2_explicit_long", r"\<command and control\>"),
    ("exfil_curl", r"curl\h.*?\$\{?\w*?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)"),
    ("exfil_wget", r"wget\h.*?\$\{?\w*?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)"),
    ("read_secrets", r"cat\h.*?(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)"),
    ("send_to_url", r"(?:send|post|upload|transmit)\h.*?\h(?:to|at)\h+https?://"),
    (
        "context_exfil",
        r"(?:include|output|print|share) … (?:conversation|chat history|previous messages|full context|entire context)",
    ),
    ("ssh_backdoor", r"authorized_keys"),
    ("ssh_access", r"(?:\$HOME|~)/\.ssh"),
    ("hermes_env", r"(?:\$HOME|~)/\.hermes/\.env"),
    (
        "agent_config_mod",
        r"(?:update|modify|edit|write|change|append|add\h+to)\h.*?(?:AGENTS\.md|CLAUDE\.md|\.cursorrules|\.clinerules)",
    ),
    (
        "hermes_config_mod",
        r"(?:update|modify|edit|write|change|append|add\h+to)\h.*?\.hermes/(?:config\.yaml|SOUL\.md)",
    ),
    ("hardcoded_secret", r#"(?:api[_-]?key|token|secret|password)\s*[=:]\s*["'](?-i:[A-Za-z0-9+/=_-]{20,})"#),
];

/// The frameworks by name. Four names are everyday words, which count beside a word for software
/// or as the whole object of a verb: "a sliver of ginger", "mythic creatures" and a doctor's
/// praxis pass, "deploy sliver to the host" and "the praxis server" do not.
const KNOWN_FRAMEWORK: &str = concat!(
    r"\<(?:",
    r"(?:cobalt\s*strike|metasploit|brainworm",
    r"|(?:praxis|havoc|mythic|sliver)[\s/-]+(?:framework|beacon|implant|agent|server|payload|c2)s?",
    r#"|(?:framework|beacon|implant|agent|server|payload|c2)s?[\s/("'`:-]+(?:praxis|havoc|mythic|sliver)"#,
    r")\>",
    r"|(?:use[sd]?|using|runs?|ran|running|(?:load|deploy)(?:s|ed|ing)?|connect(?:s|ed|ing)?(?: to| with)?)",
    r#"(?: the)? ["'`]?(?:praxis|havoc|mythic|sliver)"#,
    r#"(?:\s*(?:$|[.,;:!?()\[\]"'`])|\h*\n|\h+-"#,
    r"| (?:and|or|to|as|for|from|with|on|onto|in|into|at|via|over|across|against|by|then|now|instead",
    r"|when|while|until|before|after|if|because|but|so|once|again|today|tonight|tomorrow|daily|here|there",
    r"|locally|remotely|network|node)\>)",
    r")",
);

static REGEXES: LazyLock<Vec<(&str, Regex)>> =
    LazyLock::new(|| EXPRESSIONS.iter().map(|(id, expression)| (*id, compile(expression))).collect());

fn compile(expression: &str) -> Regex {
    let written_out = expression
        .replace(" … ", r" (?:\w+ )*?")
        .replace(' ', r"\s+")
        .replace(r"\h", r"[\s&&[^\n]]")
        .replace(r"\<", r"(?:^|\W)")
        .replace(r"\>", r"(?:\W|$)");
    Regex::new(&format!("(?i){written_out}")).unwrap_or_else(|error| panic!("{error}"))
}

/// What stands between words: mostly a space.
const GAPS: [&str; 30] = [
    "\n",
    "\t",
    "  ",
    "-",
    ".",
    ",",
    "'",
    "\"",
    "`",
    "<",
    ">",
    "<!--",
    "-->",
    "$",
    "${",
    "/",
    "://",
    " https://",
    "~/.ssh",
    ".cursorrules",
    "=",
    ": \"",
    "0123456789abcdefghijk",
    "_",
    "é",
    "中",
    "’",
    "ſ",
    "\u{2028}",
    "\u{301}",
];

/// A few words of one expression, with a space or something else between them.
fn texts() -> impl Strategy<Value = String> {
    let words = prop::sample::select(&EXPRESSIONS[..]).prop_flat_map(|(_, expression)| {
        let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        prop::collection::vec(prop::sample::select(words), 1..14)
    });
    let gaps = prop::collection::vec(prop_oneof![8 => Just(" "), 1 => prop::sample::select(&GAPS[..])], 14);
    (words, gaps).prop_map(|(words, gaps)| words.iter().zip(&gaps).map(|(word, gap)| format!("{word}{gap}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_scan_finds_what_the_expressions_find(text in texts()) {
        let found = scan(&text, Scope::Strict);
        let raw: Vec<&str> = found.iter().filter(|found| !found.folded).map(|found| found.id.as_str()).collect();
        let expect: Vec<&str> = REGEXES.iter().filter(|(_, regex)| regex.is_match(&text)).map(|(id, _)| *id).collect();
        prop_assert_eq!(raw, expect);
    }

    #[test]
    fn a_hit_begins_where_its_expression_first_matches(text in texts()) {
        // Ways to name a framework may overlap, and the one that ends first is reported.
        let findings = scan(&text, Scope::Strict);
        for found in findings.iter().filter(|found| !found.folded && found.id.as_str() != "known_c2_framework") {
            let regex = REGEXES.iter().find(|(id, _)| *id == found.id.as_str()).map(|(_, regex)| regex);
            let Some(place) = regex.and_then(|regex| regex.find(&text)) else {
                continue;
            };
            // The expressions count the character before an edge.
            let start = text[..place.start()].chars().count();
            prop_assert!(found.start == start || found.start == start + 1, "{} at {}", found.id, found.start);
        }
    }
}
