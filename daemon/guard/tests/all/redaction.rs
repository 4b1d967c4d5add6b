//! Tests of what each pass of the redaction replaces and what it leaves.

use std::borrow::Cow;

use herma_guard::{CodeFile, MaskStyle, NamedValues, RedactOptions, mask, redact};

#[track_caller]
fn check(text: &str, expect: &str) {
    let redacted = redact(text, RedactOptions::default());
    assert_eq!(redacted.text, expect);
    assert_eq!(redacted.count > 0, text != expect, "{text:?}");
}

#[track_caller]
fn unchanged(text: &str) {
    let redacted = redact(text, RedactOptions::default());
    assert_eq!(redacted.text, text);
    assert!(matches!(redacted.text, Cow::Borrowed(_)), "{text:?}");
    assert_eq!(redacted.count, 0);
}

/// Returns letters and digits of the given length that end in `WXYZ`.
fn tail(length: usize) -> String {
    let mut tail: String = "a1B2c3D4e5".chars().cycle().take(length - 4).collect();
    tail.push_str("WXYZ");
    tail
}

#[test]
fn a_mask_shows_the_ends_of_long_tokens_only() {
    for (token, expect) in [
        ("", "***"),
        ("short", "***"),
        ("12345678901234567", "***"),
        ("123456789012345678", "123456...5678"),
        ("ключключключключключ", "ключкл...ключ"),
    ] {
        assert_eq!(mask(token), expect);
    }
}

#[test]
fn keys_with_a_known_prefix_are_masked() {
    let prefixes = "sk- sk-proj- ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xoxb- xoxa- xoxp- xoxr- xoxs- pplx- fal_ fc- \
        bb_live_ sk_live_ sk_test_ rk_live_ SG. hf_ r8_ npm_ pypi- dop_v1_ doo_v1_ am_ sk_ tvly- exa_ \
        gsk_ syt_ retaindb_ hsk- mem0_ brv_ ntn_ AIza gAAAA xai-"
        .split(' ');
    for prefix in prefixes {
        let key = format!("{prefix}{}", tail(30));
        let masked = mask(&key);
        check(&format!("use {key}, then"), &format!("use {masked}, then"));
        check(&format!("https://a.example/?k={key}&x=1"), &format!("https://a.example/?k={masked}&x=1"));
        unchanged(&format!("use x{key}, then"));
        unchanged(&format!("use {prefix}a1, then"));
    }
    check("AKIA0123456789ABCDEF", "AKIA01...CDEF");
    unchanged("AKIA0123456789ABCDE");
    unchanged("AKIA0123456789ABCDEFG");
    unchanged("AKIA0123456789abcdef");
    check("(gAAAAABh1234567890123456789==)", "(gAAAAA...89==)");
    check("SG.a1B2c3D4e5f.g6H7i8J9k0L1.", "SG.a1B...k0L1.");
    check("sk-0123456789", "***");
    check("sk-0123456789 sk-9876543210x", "*** ***");
}

#[test]
fn keys_of_more_services_are_masked() {
    for (prefix, length) in [
        ("glpat-", 20),
        ("dckr_pat_", 27),
        ("shpat_", 32),
        ("tskey-auth-", 40),
        ("lin_api_", 40),
        ("nvapi-", 60),
        ("hvs.", 90),
        ("AstraCS:", 20),
        ("$aact_", 30),
        ("sha256~", 43),
        ("GOCSPX-", 28),
        ("ya29.", 60),
        ("pscale_pw_", 40),
        ("xoxe.", 30),
        ("dp.pt.", 43),
    ] {
        let key = format!("{prefix}{}", tail(length));
        check(&format!("use {key}, then"), &format!("use {}, then", mask(&key)));
        unchanged(&format!("use x{key}, then"));
    }
    check("ASIA0123456789ABCDEF", "ASIA01...CDEF");
    check("SK0123456789abcdef0123456789abcdef", "SK0123...cdef");
    for text in
        ["re_compile_the_expression_of_this_rule", "secret_of_the_old_house_on_the_other_hill", "SKIPPED", "key-value"]
    {
        unchanged(text);
    }
}

#[test]
fn random_values_are_masked_by_their_names_if_so_asked() {
    let any = |text: &str| {
        let options = RedactOptions { names: NamedValues::Any, ..RedactOptions::default() };
        redact(text, options).text.into_owned()
    };
    let value = "k3jH7xq9Zt2LmP4vR8sW";
    for form in [
        "datadog_token: {}",
        "clientSecret = \"{}\"",
        "{\"jira_api-key\": \"{}\"}",
        "{\\\"db.password\\\":\\\"{}\\\"}",
        "  signing_key => '{}',",
        "x-auth-key:{}",
    ] {
        assert_eq!(any(&form.replace("{}", value)), form.replace("{}", "k3jH7x...R8sW"), "{form}");
        assert_eq!(redact(&form.replace("{}", value), RedactOptions::default()).count, 0, "{form}");
    }
    for text in [
        "max_tokens: 12345678901234567890",
        "token: the next word of the sentence",
        "let token = next_token_from_the_list(2, 3)",
        "secret: ${{ secrets.DEPLOY_KEY_2026_11 }}",
        "token: src/auth/token2_parser_v3.rs",
        "password: aaaaaaaaaaaaaaaa11",
        "primary_key: k3jH7xq9Zt2LmP4vR8sW",
        "a_token=",
        "token: é",
    ] {
        assert_eq!(any(text), text);
    }
}

#[test]
fn prefixes_that_ask_for_more_get_more() {
    for (prefix, least) in [("AIza", 30), ("xai-", 30), ("gAAAA", 20), ("sk-", 10)] {
        let key = format!("{prefix}{}", tail(least));
        check(&key, &mask(&key));
        unchanged(&format!("{prefix}{}", tail(least - 1)));
    }
}

#[test]
fn identifiers_that_begin_like_a_key_are_left_alone() {
    for text in [
        "pip install sk-learn-contrib",
        "npm_config_registry",
        "hf_hub_download(repo)",
        "struct sk_buff_head",
        "fc-bayern-muenchen.example",
        "let am_total_amount = 3;",
        "task_force_one mask-image-repeat",
    ] {
        unchanged(text);
    }
}

#[test]
fn assignments_to_secret_variables_are_masked() {
    for (text, expect) in [
        ("export MAIL_API_KEY=hunter2", "export MAIL_API_KEY=***"),
        ("MAIL_APIKEY = hunter2", "MAIL_APIKEY=***"),
        ("GH_TOKEN='hunter2' make", "GH_TOKEN='***' make"),
        ("DB_PASSWORD=\"correct horse battery\" go", "DB_PASSWORD=\"correc...tery\" go"),
        ("PASSWD\t=\thunter2\nA=1", "PASSWD=***\nA=1"),
        ("MY_CREDENTIALS=a:b", "MY_CREDENTIALS=***"),
        ("SECRET=0123456789abcdefghij", "SECRET=012345...ghij"),
        ("X_AUTH=none", "X_AUTH=***"),
        ("run --env=MY_TOKEN=abc d", "run --env=MY_TOKEN=*** d"),
        ("(MY_TOKEN=abc), b", "(MY_TOKEN=***), b"),
        ("[\"MY_TOKEN=abc\",\"A=b\"]", "[\"MY_TOKEN=***\",\"A=b\"]"),
        ("MY_TOKEN='open", "MY_TOKEN=***"),
        ("A_TOKEN=a B_TOKEN=b", "A_TOKEN=*** B_TOKEN=***"),
        ("MY_TOKEN=пароль и", "MY_TOKEN=*** и"),
    ] {
        check(text, expect);
    }
    for text in [
        "HOME=/home/me PATH=/bin:/usr/bin",
        "before_tokens = 1200",
        "my_token=abc",
        "accessTOKEN=abc",
        "if TOKEN == other {",
        "TOKEN => 1",
        "TOKEN=",
        "TOKEN=\nnext",
        "TOKEN=''",
        "MY_TOKEN=***",
    ] {
        unchanged(text);
    }
}

#[test]
fn secret_fields_of_json_are_masked() {
    for field in "api_key apiKey token secret PASSWORD access_token refresh_token auth_token bearer secret_value \
        raw_secret secret_input key_material"
        .split(' ')
    {
        check(&format!("{{\"{field}\":\"hunter2\", \"a\": 1}}"), &format!("{{\"{field}\": \"***\", \"a\": 1}}"));
    }
    check(r#"{"token" : "a\"b", "x": "y"}"#, r#"{"token": "***", "x": "y"}"#);
    check(r#"{"secret": "0123456789abcdefghij"}"#, r#"{"secret": "012345...ghij"}"#);
    check(r#"{"token":"a","secret":"b"}"#, r#"{"token": "***","secret": "***"}"#);
    // JSON inside a JSON string.
    check(r#"{\"password\": \"s3cr3tpw!!\"} "token" "#, r#"{\"password\": \"***\"} "token" "#);
    unchanged(r#"{\"password": \"open"#);
    // A quote that ends the value of one field and begins the name of the next.
    check(r#""token":"a"token":"b""#, r#""token": "***"token":"b""#);
    for text in [
        r#"{"name": "Ana", "model": "large"}"#,
        r#"{"token": 12, "secret": null, "password": ""}"#,
        r#"{"token_count": "12", "my_secret_": "x"}"#,
        r#"{"token": "open"#,
        "token: \"abc\"",
    ] {
        unchanged(text);
    }
}

#[test]
fn bearer_tokens_are_masked() {
    for (text, expect) in [
        ("Authorization: Bearer abc123", "Authorization: Bearer ***"),
        ("authorization:bearer  0123456789abcdefghij", "authorization:bearer  012345...ghij"),
        ("curl -H \"Authorization: Bearer abc\" x", "curl -H \"Authorization: Bearer ***\" x"),
        ("{\"Authorization\": \"Bearer abc\"}", "{\"Authorization\": \"Bearer ***\"}"),
    ] {
        check(text, expect);
    }
    for text in [
        "Authorization: Basic abc",
        "Authorization: Bearer",
        "authorization is needed: bearer",
        "Authorization: Bearers of news",
    ] {
        unchanged(text);
    }
}

#[test]
fn telegram_tokens_keep_their_number() {
    let secret = "AAF-abcdefghijklmnopqrstuvwxyz_1";
    check(&format!("bot123456789:{secret}/send"), "bot123456789:***/send");
    check(&format!("12345678:{secret}"), "12345678:***");
    unchanged(&format!("1234567:{secret}"));
    unchanged(&format!("12345678:{}", &secret[..29]));
    unchanged("at 12345678: done");
}

#[test]
fn private_keys_go_as_a_block() {
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let block = format!("-----BEGIN {kind}PRIVATE KEY-----\nMIIB\nabc=\n-----END {kind}PRIVATE KEY-----");
        check(&format!("a\n{block}\nb"), "a\n[REDACTED PRIVATE KEY]\nb");
        check(&format!("{block}{block}"), "[REDACTED PRIVATE KEY][REDACTED PRIVATE KEY]");
    }
    unchanged("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----");
    unchanged("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----");
    unchanged("a file with -----BEGIN PRIVATE KEY----- at its top");
}

#[test]
fn passwords_of_database_urls_are_hidden() {
    for scheme in ["postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "AMQP"] {
        check(&format!("{scheme}://me:hunter2@db.example:5432/app"), &format!("{scheme}://me:***@db.example:5432/app"));
    }
    check("redis://:hunter2@cache", "redis://:***@cache");
    check("mysql://me:p@ss@db/x", "mysql://me:***@db/x");
    check("mysql://me:p/ss@db/x", "mysql://me:***@db/x");
    for text in [
        "https://me:hunter2@site.example/x",
        "postgres://db.example:5432/app?mail=a@b.example",
        "postgres://db.example/app",
        "redis://me@cache",
        "the form is postgres://user: then @",
    ] {
        unchanged(text);
    }
}

#[test]
fn web_tokens_are_masked() {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    check(&format!("cookie {token}; x"), "cookie eyJhbG...dXJl; x");
    check("eyJhbGciOiJIUzI1NiJ9", "eyJhbG...NiJ9");
    check("eyJhbGciOiJIUzI1NiJ9.ab", "eyJhbG...NiJ9.ab");
    check("eyJ0123456789", "***");
    unchanged("eyJust a greeting");
    unchanged("keyJournalEntries.toString()");
}

#[test]
fn secret_values_of_a_form_are_hidden() {
    for field in "access_token refresh_token id_token token api_key apikey client_secret password auth jwt \
        session secret key code signature X-Amz-Signature"
        .split(' ')
    {
        check(&format!("user=me&{field}=a%20b\n"), &format!("user=me&{field}=***\n"));
    }
    check("code=1&user=me&key=2", "code=***&user=me&key=***");
    for text in [
        "token=abc",
        "user=me&name=x",
        "user=me & token=abc",
        "https://a.example/?token=abc&x=1",
        "user=me&token=",
        "a&b&token=x",
    ] {
        unchanged(text);
    }
}

#[test]
fn telephone_numbers_keep_their_ends() {
    for (text, expect) in [
        ("+1234567", "+1****67"),
        ("call +12345678!", "call +123****5678!"),
        ("tel:+491701234567", "tel:+491****4567"),
        ("+123456789012345", "+123****2345"),
    ] {
        check(text, expect);
    }
    for text in ["+123456", "+1234567890123456", "+1234567a", "+0000000000", "n+1000000", "2+10000000", "+491****4567"]
    {
        unchanged(text);
    }
}

#[test]
fn ordinary_text_is_not_touched() {
    for text in [
        "",
        "Plain words, with a token of thanks and the secret of good bread.",
        "fn main() { let key = map.get(\"key\"); a += 1; }",
        "https://a.example/cb?code=abc123&state=xyz&access_token=opaque",
        "https://me:pass@git.example/repo.git",
        "wss://gate.example/ws?token=opaque-value",
        "10.0.0.1 - - [20/Nov/2026] \"GET /cb?token=abc&code=1 HTTP/1.1\" 200 12",
        "<@123456789012345678> <@!123456789012345678> <@U012AB3CD>",
        "HOME=/home/me\nPATH=/usr/bin",
        "before_tokens = response.usage.total",
        "api_key = config.get('api_key')",
        "const token = await session.fetch();",
        r#"{"name": "x", "model": "y"}"#,
        "xai-short",
        "日本語のテキスト🙂 و نص عربي",
    ] {
        unchanged(text);
    }
}

#[test]
fn code_keeps_its_assignments_and_fields() {
    let code = RedactOptions { code: CodeFile::Yes, ..RedactOptions::default() };
    let source = "API_KEY = os.environ['X']\nx = {\"token\": \"abc\"}\n";
    let redacted = redact(source, code);
    assert_eq!((&*redacted.text, redacted.count), (source, 0));
    let key = format!("KEY = \"sk-{}\"", tail(30));
    assert_eq!(redact(&key, code).text, "KEY = \"sk-a1B...WXYZ\"");
    assert_eq!(redact("a mysql://u:p@h", code).text, "a mysql://u:***@h");
}

#[test]
fn each_pass_sees_what_the_last_one_left() {
    let key = format!("sk-proj-{}", tail(30));
    check(&format!("OPENAI_API_KEY={key}"), "OPENAI_API_KEY=***");
    assert_eq!(redact(&format!("OPENAI_API_KEY={key}"), RedactOptions::default()).count, 2);
    check(&format!("Authorization: Bearer {key}"), "Authorization: Bearer ***");
    check(&format!("{{\"token\":\"{key}\"}}"), "{\"token\": \"***\"}");
    check("A_TOKEN = x&password=y", "A_TOKEN=***");
}

#[test]
fn every_replacement_is_counted() {
    let redacted = redact("A_TOKEN=a then +4915112345678, +1234567", RedactOptions::default());
    assert_eq!(redacted.count, 3);
    assert_eq!(redacted.text, "A_TOKEN=*** then +491****5678, +1****67");
}

#[test]
fn where_nothing_may_be_shown_nothing_stays() {
    let nothing = |text: &str| {
        redact(text, RedactOptions { shown: MaskStyle::Nothing, ..RedactOptions::default() }).text.into_owned()
    };
    let key = tail(40);
    for (text, expect) in [
        (format!("use ghp_{key}, then"), "use [REDACTED], then"),
        (format!("SG.{key}.{key}."), "[REDACTED]."),
        (format!("API_TOKEN=ghp_{key};"), "API_TOKEN=[REDACTED];"),
        (format!("export A_SECRET = '{key}'"), "export A_SECRET='[REDACTED]'"),
        (format!("{{\"password\": \"{key}\"}}"), "{\"password\": \"[REDACTED]\"}"),
        (format!("authorization: bearer {key}"), "authorization: bearer [REDACTED]"),
        (format!("eyJ{key}.{key}.{key} x"), "[REDACTED] x"),
        ("call +493012345678.".to_owned(), "call [REDACTED]."),
        (format!("123456789:{key}"), "123456789:***"),
        (format!("redis://me:{key}@host"), "redis://me:***@host"),
        (format!("user=me&password={key}"), "user=me&password=***"),
    ] {
        assert_eq!(nothing(&text), expect);
        assert_eq!(nothing(expect), expect, "once more");
        let masked = redact(&text, RedactOptions::default()).text.into_owned();
        let again = nothing(&masked);
        assert!(!again.contains("...") && !again.contains("****"), "of what was masked: {again}");
        assert!(!key.as_bytes().windows(4).any(|part| again.contains(std::str::from_utf8(part).unwrap())), "{again}");
    }
    for text in
        ["ghp_aB...wX", "sk-pro...", "+493****12", "(hf_abc...wxyz)", "AKIA01...CDEF\nnext", "Bearer aB3dEf...W7yZ, x"]
    {
        assert!(nothing(text).contains("[REDACTED]"), "{text}");
        unchanged(text);
    }
    for text in [
        "and so on...",
        "wait...what",
        "skips... then",
        "x**** 12",
        "5****1234",
        "a+b****",
        "no...ghp_",
        "wonder...what",
        "Really...Then",
        "LISTEN...what",
        "123456...7890",
        "x1b2c3d...a1b2",
    ] {
        assert_eq!(nothing(text), text);
    }
}

#[test]
fn a_sign_before_a_name_hides_no_secret() {
    for sign in ["", "…", "“", "→ ", "$", "é ", "(", "_"] {
        let (text, expect) = (format!("{sign}API_TOKEN=abcdef"), format!("{sign}API_TOKEN=***"));
        check(&text, &expect);
    }
    for word in ["é", "x", "日本"] {
        unchanged(&format!("{word}API_TOKEN=abcdef"));
    }
}

#[test]
fn a_placeholder_is_no_secret() {
    for text in [
        "API_TOKEN=[REDACTED]",
        "{\"token\": \"[REDACTED]\"}",
        "A_SECRET='[REDACTED]', x",
        "Authorization: Bearer [REDACTED]",
    ] {
        unchanged(text);
    }
    check("API_TOKEN=[REDACTED]x", "API_TOKEN=***");
}
