//! The threat patterns, in the order in which they are reported.
//!
//! The notation is that of [`expand`](super::expand): a space is any white space, ` … ` a filler,
//! `\h` white space within the line, `\<` and `\>` the edges of a word.

use super::Pattern;
use crate::Scope::{All, Context, Strict};

/// Every pattern; a finding's place among others follows from its place here.
pub(super) static PATTERNS: [Pattern; 36] = [
    Pattern::new(
        "prompt_injection",
        All,
        &[&["ignore"], &["instructions"]],
        r"ignore … (?:previous|all|above|prior) … instructions",
    ),
    Pattern::new("sys_prompt_override", All, &[&["prompt"], &["override"]], r"system prompt override"),
    Pattern::new(
        "disregard_rules",
        All,
        &[&["disregard"]],
        r"disregard … (?:your|all|any) … (?:instructions|rules|guidelines)",
    ),
    Pattern::new(
        "bypass_restrictions",
        All,
        &[&["act"], &["restrictions", "limits", "rules"]],
        r"act as (?:if|though) … you … (?:have no|don['’]t have) … (?:restrictions|limits|rules)",
    ),
    Pattern::new(
        "html_comment_injection",
        All,
        &[&["<!--"], &["-->"]],
        r"<!--[^>]*?(?:ignore|override|system|secret|hidden)[^>]*?-->",
    ),
    Pattern::new(
        "hidden_div",
        All,
        &[&["style"], &["display"]],
        r#"<\s*div style\s*=\s*["'](?s:.*?)display\s*:\s*none"#,
    ),
    Pattern::new("translate_execute", All, &[&["translate"]], r"translate\h.*?\hinto\h.*?\hand\h+(?:execute|run|eval)"),
    Pattern::new("deception_hide", All, &[&["tell"], &["user"]], r"do not … tell … the user"),
    Pattern::new("role_hijack", Context, &[&["you"], &["now"]], r"you are … now (?:a|an|the)\s"),
    Pattern::new("role_pretend", Context, &[&["pretend"]], r"pretend … (?:you are|to be)\s"),
    Pattern::new("leak_system_prompt", Context, &[&["output"], &["prompt"]], r"output … (?:system|initial) prompt"),
    Pattern::new(
        "remove_filters",
        Context,
        &[&["without"], &["restrictions", "limitations", "filters", "safety"]],
        r"(?:respond|answer|reply) without … (?:restrictions|limitations|filters|safety)",
    ),
    Pattern::new(
        "fake_update",
        Context,
        &[&["updated", "upgraded", "patched"]],
        r"you have been … (?:updated|upgraded|patched) to",
    ),
    Pattern::new("identity_override", Context, &[&["yourself"]], r"\<name yourself \w+"),
    Pattern::new("c2_node_registration", Context, &[&["register"], &["node"]], r"register (?:as )?(?:a )?node"),
    Pattern::new(
        "c2_heartbeat",
        Context,
        &[&["heartbeat", "beacon", "check"]],
        r"(?:heartbeat|beacon|check-in|check in|checkin) (?:to|with)\s",
    ),
    Pattern::new("c2_task_pull", Context, &[&["pull"], &["task"]], r"pull (?:down )?(?:new )?(?:tasking|tasks|task)\>"),
    Pattern::new("c2_network_connect", Context, &[&["connect"], &["network"]], r"connect to the network\>"),
    Pattern::new(
        "forced_action",
        Context,
        &[&["must"], &["register", "connect", "report", "beacon"]],
        r"you must (?:\w+ ){0,3}(?:register|connect|report|beacon)\>",
    ),
    Pattern::new("anti_forensic_oneliner", Context, &[&["liner"]], r"only use one(?:-| )?liners?"),
    Pattern::new(
        "anti_forensic_disk",
        Context,
        &[&["never"], &["disk"]],
        r"never … (?:create|write) … (?:script|file) … disk",
    ),
    Pattern::new(
        "env_var_unset_agent",
        Context,
        &[&["unset"]],
        r"unset \w*(?:CLAUDE|CODEX|HERMES|AGENT|OPENAI|ANTHROPIC)\w*",
    ),
    Pattern::new(
        "known_c2_framework",
        Context,
        &[&["praxis", "cobalt", "sliver", "havoc", "mythic", "metasploit", "brainworm"]],
        KNOWN_FRAMEWORK,
    ),
    Pattern::new("c2_explicit", Context, &[&["c2"]], r"\<c2 (?:server|channel|infrastructure|beacon)\>"),
    Pattern::new("c2_explicit_long", Context, &[&["command"], &["control"]], r"\<command and control\>"),
    Pattern::new(
        "exfil_curl",
        All,
        &[&["curl"], &["$"]],
        r"curl\h.*?\$\{?\w*?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)",
    ),
    Pattern::new(
        "exfil_wget",
        All,
        &[&["wget"], &["$"]],
        r"wget\h.*?\$\{?\w*?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)",
    ),
    Pattern::new(
        "read_secrets",
        All,
        &[&[".env", "credentials", ".netrc", ".pgpass", ".npmrc", ".pypirc"]],
        r"cat\h.*?(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)",
    ),
    Pattern::new(
        "send_to_url",
        Strict,
        &[&["http"], &["send", "post", "upload", "transmit"]],
        r"(?:send|post|upload|transmit)\h.*?\h(?:to|at)\h+https?://",
    ),
    Pattern::new(
        "context_exfil",
        Strict,
        &[&["include", "output", "print", "share"], &["conversation", "history", "messages", "context"]],
        r"(?:include|output|print|share) … (?:conversation|chat history|previous messages|full context|entire context)",
    ),
    Pattern::new("ssh_backdoor", Strict, &[&["authorized_keys"]], r"authorized_keys"),
    Pattern::new("ssh_access", Strict, &[&["/.ssh"]], r"(?:\$HOME|~)/\.ssh"),
    Pattern::new("hermes_env", Strict, &[&["/.hermes/.env"]], r"(?:\$HOME|~)/\.hermes/\.env"),
    Pattern::new(
        "agent_config_mod",
        Strict,
        &[&["agents.md", "claude.md", ".cursorrules", ".clinerules"]],
        r"(?:update|modify|edit|write|change|append|add\h+to)\h.*?(?:AGENTS\.md|CLAUDE\.md|\.cursorrules|\.clinerules)",
    ),
    Pattern::new(
        "hermes_config_mod",
        Strict,
        &[&[".hermes/config.yaml", ".hermes/soul.md"]],
        r"(?:update|modify|edit|write|change|append|add\h+to)\h.*?\.hermes/(?:config\.yaml|SOUL\.md)",
    ),
    Pattern::new(
        "hardcoded_secret",
        Strict,
        &[&["key", "token", "secret", "password"]],
        r#"(?:api[_-]?key|token|secret|password)\s*[=:]\s*["'](?-i:[A-Za-z0-9+/=_-]{20,})"#,
    ),
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
