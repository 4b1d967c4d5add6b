use super::*;
use crate::testing::say;

const ENGLISH: &str = "Please look at the parser and fix the bug that makes it lose the last line of the file. You should not change the tests, and when you are done tell me what the reason was and how it is with the other readers. ";
const GERMAN: &str = "Bitte sieh dir den Parser an und behebe den Fehler, der die letzte Zeile der Datei verliert. Die Tests darfst du nicht ändern, und wenn es fertig ist, sag mir, was der Grund war und wie es mit den anderen Lesern ist. ";
const FRENCH: &str = "Regarde le parseur et corrige le défaut qui perd la dernière ligne des fichiers dans le lecteur. Ne change pas les tests, et dis-moi pour quelle raison il est là et ce que nous avons sur les autres lecteurs avec une note. ";
const SPANISH: &str = "Mira el analizador y corrige el error que pierde la última línea del archivo cuando se lee. No cambies las pruebas, y cuando esté listo dime por qué se produjo y lo que pasa con los otros lectores en una nota más larga. ";
const PORTUGUESE: &str = "Veja o analisador e corrija o erro que perde a última linha do arquivo quando é lido com os outros. Você não deve mudar os testes, mas diga por que isso está na nota e como está para os outros leitores em uma lista. ";
const ITALIAN: &str = "Guarda il parser e correggi il difetto che perde l'ultima riga della nota, perché non è nel file. Non cambiare gli altri test, ma dimmi per quale ragione è una riga di più e come sono gli altri lettori con questo. ";
const RUSSIAN: &str = "Посмотри на разборщик и исправь ошибку, из-за которой теряется последняя строка файла. Тесты менять нельзя, а когда закончишь, скажи мне, в чём была причина и как дела с остальными читателями. ";
const CHINESE: &str = "请检查解析器并修复丢失文件最后一行的错误。不要修改测试，完成后告诉我原因是什么，以及其他读取器的情况如何。这个问题已经出现很多次了，请仔细检查每一个地方。";
const JAPANESE: &str = "パーサーを見て、ファイルの最後の行が失われるバグを直してください。テストは変更しないでください。終わったら理由と他のリーダーの状況を教えてください。";
const KOREAN: &str = "파서를 살펴보고 파일의 마지막 줄이 사라지는 버그를 고쳐 주세요. 테스트는 바꾸지 말고, 끝나면 이유가 무엇이었는지와 다른 리더의 상황을 알려 주세요. ";
const ARABIC: &str = "انظر إلى المحلل وأصلح الخطأ الذي يفقد السطر الأخير من الملف. لا تغير الاختبارات، وعندما تنتهي أخبرني ما السبب وكيف حال القراء الآخرين. ";
const HINDI: &str = "कृपया पार्सर देखें और वह गलती ठीक करें जिससे फ़ाइल की अंतिम पंक्ति खो जाती है। परीक्षण मत बदलना, और जब हो जाए तो मुझे बताना कि कारण क्या था। ";
const HEBREW: &str =
    "בדוק את המנתח ותקן את הבאג שמאבד את השורה האחרונה של הקובץ. אל תשנה את הבדיקות, וכשתסיים ספר לי מה הייתה הסיבה. ";
const GREEK: &str = "Κοίτα τον αναλυτή και διόρθωσε το σφάλμα που χάνει την τελευταία γραμμή του αρχείου. Μην αλλάξεις τις δοκιμές και πες μου τον λόγο. ";
const THAI: &str = "กรุณาดูตัวแยกวิเคราะห์และแก้ไขข้อผิดพลาดที่ทำให้บรรทัดสุดท้ายของไฟล์หายไป อย่าเปลี่ยนการทดสอบ และบอกเหตุผลเมื่อเสร็จแล้ว ";
const DUTCH: &str = "Kijk naar de parser en herstel de fout waardoor de laatste regel van het bestand verloren gaat. Verander de tests niet en vertel me wat de reden was en hoe het met de andere lezers gaat. ";

fn of(user: &str, body: &str) -> Option<(&'static str, &'static str)> {
    let turns = [say("assistant", CHINESE), say("user", user), say("tool", RUSSIAN)];
    mismatch(&body.repeat(4), &turns.iter().collect::<Vec<_>>())
}

#[test]
fn every_language_is_its_own_and_no_other() {
    let languages = [
        (ENGLISH, "English"),
        (GERMAN, "German"),
        (FRENCH, "French"),
        (SPANISH, "Spanish"),
        (PORTUGUESE, "Portuguese"),
        (ITALIAN, "Italian"),
        (RUSSIAN, "the Cyrillic script"),
        (CHINESE, "Chinese"),
        (JAPANESE, "Japanese"),
        (KOREAN, "Korean"),
        (ARABIC, "the Arabic script"),
        (HINDI, "Devanagari"),
        (HEBREW, "Hebrew"),
        (GREEK, "Greek"),
        (THAI, "Thai"),
    ];
    for (user, expected) in languages {
        for (body, got) in languages {
            let are_kin = [expected, got].iter().all(|name| ["Chinese", "Japanese"].contains(name));
            let expect = (expected != got && !are_kin).then_some((expected, got));
            assert_eq!(of(user, body), expect, "{expected} and {got}");
        }
    }
}

#[test]
fn in_doubt_there_is_no_mismatch() {
    let code = "Fixed `let x = 1;` in src/main.rs and ran cargo_test --all\n```\nthe and is of to that with\n```\n";
    let mixed = format!("{CHINESE} {ENGLISH}");
    let log = "error: the file is not there and it was not read\n".repeat(2_000);
    let pasted = say("user", &format!("{ENGLISH}{}", RUSSIAN.repeat(50)));
    for (user, body) in [
        ("fix it", RUSSIAN),
        ("", RUSSIAN),
        (ENGLISH, ""),
        (ENGLISH, code),
        (RUSSIAN, code),
        (&mixed, RUSSIAN),
        (DUTCH, ENGLISH),
        (ENGLISH, DUTCH),
        (RUSSIAN, &format!("{RUSSIAN}{GERMAN}")),
        (&format!("{CHINESE}\n```\n{log}\n```"), CHINESE),
        (CHINESE, &format!("修复了 `src/parser.rs` 里的 bug，运行 cargo test 通过。{CHINESE}## Key Decisions\n")),
    ] {
        assert_eq!(of(user, body), None, "{user} / {body}");
    }
    let own = [say("user", ENGLISH), say("user", ENGLISH), say("user", ENGLISH), say("user", ENGLISH), pasted];
    let own: Vec<&Message> = own.iter().collect();
    assert_eq!(mismatch(&ENGLISH.repeat(4), &own), None, "what is pasted does not speak for the user");
    assert_eq!(mismatch(&format!("fix {}", "漢".repeat(200)), &own), Some(("English", "Chinese")));
}

#[test]
fn headings_are_english_in_every_language() {
    let headings = "## Historical Task Snapshot\n## Constraints & Preferences\n## Completed Actions\n".repeat(10);
    assert_eq!(of(RUSSIAN, &format!("{headings}{RUSSIAN}")), None);
}

#[test]
fn every_script_has_its_place() {
    for (place, script) in SCRIPTS.into_iter().enumerate() {
        assert_eq!(script as usize, place);
    }
}

#[test]
fn every_frequent_word_has_its_bit() {
    for (language, words) in LANGUAGES {
        assert!(words.split(' ').count() <= 64, "{language}");
    }
}
