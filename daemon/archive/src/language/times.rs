//! Words about time.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::hash::Words;

/// Words that ask for a time, as the index has them.
const WHEN: &str = "when wann quand cuando quando wanneer nar hvornar naar когда date dates datum fecha data дата";

/// The same in languages without spaces between words.
const WHEN_UNSPACED: [&str; 9] = ["什么时候", "什麼時候", "何时", "何時", "几月", "いつ", "何月", "언제", "เมื่อไหร่"];

/// Words that state a time: days, months, and units of time.
const TIMES: &str = "yesterday today tomorrow tonight last next ago week weeks weekend month months year years \
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
    september october november december morning evening afternoon noon midnight since until deadline \
    gestern heute morgen letzte letzten letztes nachste nachsten woche wochen monat jahr montag dienstag mittwoch \
    donnerstag freitag samstag sonntag januar februar marz mai juni juli oktober dezember \
    hier aujourd demain dernier derniere prochain prochaine semaine mois annee lundi mardi mercredi jeudi vendredi \
    samedi dimanche janvier fevrier mars avril juin juillet aout septembre octobre decembre \
    ayer hoy manana semana mes ano pasado pasada proximo lunes martes miercoles jueves viernes sabado domingo enero \
    febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre \
    ieri oggi domani scorso scorsa prossimo settimana mese anno lunedi martedi mercoledi giovedi venerdi gennaio \
    febbraio aprile maggio giugno luglio settembre ottobre dicembre \
    ontem hoje amanha janeiro fevereiro marco maio junho julho setembro outubro dezembro \
    gisteren vandaag morgen vorige volgende maandag dinsdag woensdag donderdag vrijdag zaterdag zondag maart mei \
    вчера сегодня завтра неделе неделю неделя месяц года году понедельник вторник среду четверг пятницу субботу \
    воскресенье января февраля марта апреля мая июня июля августа сентября октября ноября декабря";

/// The same in languages without spaces between words.
const TIMES_UNSPACED: [&str; 18] = [
    "昨", "今天", "今日", "明天", "明日", "去年", "上周", "下周", "先週", "来週", "月", "年", "星期", "曜", "어제",
    "오늘", "내일", "요일",
];

/// Whether a query asks for a time. Its words are lowercase, without accents.
pub(crate) fn asks_when<'a>(query: &str, mut words: impl Iterator<Item = &'a str>) -> bool {
    words.any(|word| WHENS.contains(word)) || WHEN_UNSPACED.iter().any(|when| query.contains(when))
}

/// Whether a text states a time. Its words are lowercase, without accents.
pub(crate) fn says_when<'a>(text: &str, mut words: impl Iterator<Item = &'a str>) -> bool {
    words.any(|word| TIME_WORDS.contains(word) || is_year(word))
        || (!text.is_ascii() && TIMES_UNSPACED.iter().any(|time| text.contains(time)))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) && word.bytes().all(|b| b.is_ascii_digit())
}

static WHENS: LazyLock<HashSet<&'static str, Words>> = LazyLock::new(|| WHEN.split_whitespace().collect());

static TIME_WORDS: LazyLock<HashSet<&'static str, Words>> = LazyLock::new(|| TIMES.split_whitespace().collect());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_known_in_several_languages() {
        for (text, asks, says) in [
            ("when did it land", true, false),
            ("it landed yesterday", false, true),
            ("in 2024", false, true),
            ("room 1024", false, false),
            ("wann war das", true, false),
            ("letzte woche", false, true),
            ("什么时候发布", true, false),
            ("昨天发布了", false, true),
            ("いつですか", true, false),
            ("", false, false),
        ] {
            assert_eq!((asks_when(text, text.split(' ')), says_when(text, text.split(' '))), (asks, says), "{text}");
        }
    }
}
