//! The wording of rules.

use std::sync::LazyLock;

use crate::pattern::Pattern;

use aho_corasick::AhoCorasick;

/// Words of which every rule contains one: a cheap check before the patterns.
pub(super) static CUES: LazyLock<Cues> = LazyLock::new(|| Cues::new(&CUE_WORDS));

/// Cue words in lower case.
const CUE_WORDS: [&str; 119] = [
    "never",
    "always",
    "only",
    "do not",
    "don't",
    "don’t",
    "dont ",
    "must",
    "make sure",
    "ensure",
    "be sure",
    "now on",
    "going forward",
    "henceforth",
    "no circumstances",
    "all times",
    "avoid",
    "without",
    "off limits",
    "off-limits",
    "not allowed",
    "not to ",
    "may not",
    "cannot",
    "can't ",
    "can’t ",
    "forbidden",
    "prohibited",
    "refrain",
    "stick to",
    "rule",
    "policy",
    "constraint",
    "remember",
    "should",
    "shall",
    "need to",
    "needs to",
    "have to",
    "has to",
    "no ",
    "ask me",
    "check with",
    "tell me before",
    "until i",
    "whenever",
    "every time",
    "each time",
    "prefer",
    "instead of",
    "keep ",
    "leave ",
    "stay ",
    "required",
    "mandatory",
    "hands off",
    "strictly",
    "exclusively",
    "at most",
    "at least",
    "no more than",
    "niemals",
    " nie ",
    "nie ",
    "immer",
    "nur ",
    "keinen fall",
    "ab jetzt",
    "ab sofort",
    "von nun an",
    "stell",
    "achte",
    "nicht",
    "kein",
    "muss",
    "müss",
    "nunca",
    "jamás",
    "siempre",
    "solo ",
    "sólo",
    "solamente",
    "asegúr",
    "partir de ahora",
    "debe",
    "hay que",
    "no ",
    "bajo ninguna",
    "evita",
    "jamais",
    "toujours",
    "seulement",
    "uniquement",
    "assure",
    "désormais",
    "il faut",
    " dois",
    "devez",
    "en aucun cas",
    "évite",
    "ne ",
    "n'",
    "n’",
    "不要",
    "别",
    "绝",
    "永远",
    "始终",
    "必须",
    "务必",
    "只能",
    "禁止",
    "请勿",
    "切勿",
    "从现在",
    "不得",
    "しない",
    "絶対",
    "必ず",
];

/// Cue words of other scripts, and of languages with few entries.
const MORE_CUE_WORDS: [&str; 66] = [
    "fan of",
    "not into",
    "déteste",
    "aime",
    "odio",
    "mögen",
    "hasse",
    "偏好",
    "讨厌",
    "方がいい",
    "ほうがいい",
    "좋아",
    "люблю",
    "favor",
    "favour",
    "dislike",
    "hate",
    "detest",
    "love",
    "like",
    "allergic",
    "fond of",
    "bevorzug",
    "ich mag",
    "lieber",
    "prefier",
    "prefir",
    "préfère",
    "喜欢",
    "好き",
    "предпочита",
    "선호",
    "总是",
    "只用",
    "只使用",
    "以后",
    "一定要",
    "不准",
    "不许",
    "不能",
    "不可",
    "するな",
    "いけない",
    "ならない",
    "常に",
    "いつも",
    "今後",
    "これから",
    "のみ",
    "使わないで",
    "ないで",
    "なければ",
    "никогда",
    "всегда",
    "нельзя",
    "обязательно",
    "только",
    "не ",
    "절대",
    "항상",
    "반드시",
    "하지 마",
    "지 마",
    "sempre",
    "não ",
    "mai ",
];

/// A set of literals.
pub(super) struct Cues(AhoCorasick);

impl Cues {
    #[expect(clippy::expect_used, reason = "the words are constants, and tests compile them")]
    fn new(words: &[&str]) -> Self {
        let all = words.iter().chain(&MORE_CUE_WORDS);
        Self(AhoCorasick::builder().ascii_case_insensitive(true).build(all).expect("a set of words"))
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// A demand at the beginning of a clause.
pub(super) static RULE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r#"(?ix)
        (?: ^["'“(*_]* | [,;:.!(–—]\s*["'*_]* | \s-+\s+ | \b(?:and|but|so|also|then|please|pls|plz|just|you|we|that|note|remember|rule|again|important|either|or|to|team|folks|agents?|everyone|it|here|there|project|repo|repository|codebase|branch|commits?|tests?|code|files?)\s+ )
        (?: (?:please|pls|kindly|also|really|simply|just)\s+ )*
        (?:
            (?: should|must|shall|may|can|will|ought\ to|are\ to|have\ to|need\ to )\s+ (?: never|always|only|not )\b
          | (?: mustn['’]?t|shouldn['’]?t|may\ not|must\ not|shall\ not|should\ not|are\ not\ (?:allowed|permitted|supposed)\ to|cannot\ be|can\ not\ be|can['’]?t\ be|must\ be|must\ have|must|shall )\b
          | (?: never|always )\s+\w
          | only\s+(?: ever\s+)? (?: use|run|commit|push|edit|touch|change|modify|write|deploy|merge|read|call|add|install|test|answer|reply|respond|work|target|support|accept|allow|change|create|make|do|send|log|store|keep|return|open|import|ship|release|put|publish|include|let|when|after|if|with|on|in|from|the|one|ask|show|print|rely|upgrade|restart|query|access|connect|contact|give|book|pay|suggest|delete|remove|format|squash|tag|name|speak|talk|\w+\ (?:may|can|is\ allowed|are\ allowed) )\b
          | (?: do\ not|don['’]?t|dont|do\ n['’]t )\s+ (?: ever\s+|you\s+|even\s+|just\s+|also\s+|simply\s+|try\s+to\s+|start\s+)*[a-z]
          | refrain\ from\b | avoid\b | stick\ (?:to|with)\b | stay\ (?:away|off|out|within|inside|below|under|on)\b
          | prefer\b | remember\ (?:to|that\ you)\b | (?:ask|check\ with|tell|warn|consult|confirm\ with|get\ (?:my|approval|permission)|wait\ for\ my)\b[^.]{0,60}\bbefore\b
          | no\s+[^.,;]{1,80}\b(?:without|unless|until|before|except|please|ever|allowed|whatsoever|anywhere|at\ all)\b
          | no\s+(?:new|more|other|direct|external|third[\ -]party|force|raw|global|inline|wildcard|unsafe|hard[\ -]?coded|breaking|network|manual|print|emojis?|comments?|abbreviations?|mocks?|todos?|tabs?|magic|silent|nested|unwraps?|panics?|downtime|deploys?|deployments?|pushes|merges)\b
          | whenever\s+you\b | (?:every|each)\ time\ you\b | before\s+you\s+\w+.{2,80},\s*\w | before\s+(?:each|every|any)\b.{2,80},
          | \w+\s+(?:strictly|exclusively)\b
          | use\s+.{1,60}\binstead\ of\b | use\s+.{1,50},?\s+(?:not|never)\s+ | (?:use|write|run|commit|touch|edit|test|deploy|push|talk|answer|reply|respond)\b.{0,50}\b(?:only|exclusively)\b
          | (?:every|each|all|any)\s+[^.]{2,70}\b(?:must|has\ to|have\ to|needs?\ to|should|shall|gets?|is\ to|are\ to|requires?)\b
          | (?:nothing|nobody|no\ one|no[\ -]one)\s+[^.]{0,60}\b(?:may|must|should|can|goes|leaves|gets|is\ (?:allowed|to)|shall)\b
        )"#,
    )
});

/// A demand anywhere in a sentence, in English and other languages.
pub(super) static RULE_ELSEWHERE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)
        \b(?:for\ this\ (?:task|one|change|pr|commit|step|run|fix|patch|request|ticket|refactor|round)\ only|only\ for\ this\ (?:task|one|change|pr|commit|step|run|fix|patch|request|ticket|refactor|round)|from\ (?:now|here|this\ point|today)\ on(?:wards?)?|from\ now|going\ forward|henceforth|from\ here\ on\ out|for\ the\ rest\ of\ (?:this|the|our))\b
        | \b(?:under|in)\ no\ circumstances?\b | \bat\ all\ (?:times|costs)\b | \bon\ no\ account\b | \bno\ matter\ what\b
        | \b(?:is|are|stays?|remains?)\ (?:strictly\ |completely\ |absolutely\ )?(?:off[\ -]limits|forbidden|prohibited|not\ allowed|not\ permitted|banned|taboo|mandatory|a\ hard\ (?:rule|requirement)|non[\ -]negotiable|verboten)\b | \bit(?:['’]s|\ is)\ (?:not\ ok(?:ay)?|forbidden|mandatory)\ to\b
        | \bI\ (?:do\ not|don['’]?t|never)\ want\ (?:you|any|to\ see|anyone|anything|this|that|it)\b | \bI\ (?:want|need|expect|require)\ (?:you\ to\ (?:always|never|only)|every|each|all)\b
        | \b(?:hard|golden|house|ground|standing|strict|important|project|general|basic|team)\ (?:rule|requirement|constraint|policy)\b | ^\W*(?:rule|constraint|requirement|policy|standing\ order|important)\b[^:]{0,20}:
        | \b(?:until|unless)\ I\ (?:say|tell|approve|confirm|give|ask|explicitly|sign|okay|ok)\b | \bwithout\ (?:my|asking|checking|explicit|prior|consulting|telling|an?\ (?:explicit\ )?(?:approval|review|ok|sign[\ -]?off))\b
        | \byou\ (?:must|shall|should\ (?:always|never|only)|are\ (?:never|only|not)\ (?:to|allowed)|may\ (?:never|only|not)|can\ (?:never|only)|have\ to\ (?:always|never)|need\ to\ always|will\ (?:never|always|only))\b | \byou(?:['’]re|\ are)\ not\ (?:allowed|permitted|supposed)\ to\b
        | \b(?:must|may|should|shall)\ (?:never|always|not|only)\b | \bmustn['’]t\b | \bnever,?\ ever\b
        | \b(?:has|have|needs?)\ to\ (?:stay|remain|keep|be\ (?:kept|under|below|within|reviewed|approved|signed|backward|compatible|idempotent|deterministic))\b | \bmust\ (?:stay|remain|keep|be\ (?:\w+ed|written|kept|run|built|sent|done|made|in|under|at|below|within|above|on|\w+able|\w+ible|green|idempotent|deterministic|compatible)|have\ (?:a|an|at|its|their|tests?|no)|go|pass|work|run|use|compile|support|come|live|match|fit|contain|include|carry|end|start|begin)\b
        | \b(?:niemals|auf\ keinen\ fall|ab\ (?:jetzt|sofort|heute)|von\ nun\ an|unter\ keinen\ umständen|stell(?:e|t|en\ sie)?\ (?:bitte\ )?sicher|achte(?:t|n\ sie)?\ (?:bitte\ )?(?:immer\ )?darauf|(?:darf|darfst|dürfen|sollst|soll|sollen)\ (?:\w+\ ){0,3}(?:nie|nicht|nur|kein\w*|niemals)|musst\ (?:du\ )?(?:immer|stets)|bitte\ (?:immer|nie|nur|nicht|kein\w*|niemals|stets)|immer\ (?:zuerst|erst|vorher|nur))\b
        | ^\W*(?:immer|nie|nur|keine?[nrms]?|niemals|stets)\s+\w | \b(?:kein\w*|nicht|nie|nichts)\b[^.]{2,60}\bohne\b | ^\W*\w+\s+(?:\w+\s+){0,5}?(?:nie|niemals|immer\ nur)\s+\w
        | \b(?:nunca|jamás|bajo\ ning(?:ún|una)\s\w+|a\ partir\ de\ ahora|de\ ahora\ en\ adelante|asegúr(?:ate|ese|ense)|no\ (?:debes?|puedes|deben|hay\ que|se\ (?:debe|puede|permite))|(?:debes?|deben|tienes\ que|hay\ que)\ (?:siempre|usar|mantener|pedir|hacer))\b | ^\W*(?:por\ favor,?\ )?(?:siempre|s[oó]lo|solamente|únicamente|evita(?:r)?)\s+\w | ^\W*(?:por\ favor,?\ )?no\s+\w+(?:es|as|e|a|en|an)\s(?:.*\s)?(?:el|la|los|las|un|una|de|del|en|que|sin|nada|lo|esto|eso|al)\b
        | \b(?:jamais|en\ aucun\ cas|désormais|à\ partir\ de\ maintenant|dorénavant|assure[\ -](?:toi|z[\ -]vous)|assurez[\ -]vous|veille(?:z)?\ à|(?:tu\ dois|vous\ devez|il\ faut)\s+(?:toujours|jamais|que|absolument|seulement)?|ne\ (?:\w+['’])?\w+\s+(?:pas|jamais|plus|rien)|n['’]\w+\s+(?:pas|jamais|plus|rien))\b | ^\W*(?:toujours|seulement|uniquement|évite[rz]?)\s+\w | ^\W*\w+(?:ez|e|s)\s+(?:toujours|uniquement)\b
        | 不要 | (?:^|[，,。、\s请])别[^的人处]|绝不|绝对不|从不|永远|总是|始终|必须|务必|只能|只用|只使用|禁止|请勿|切勿|从现在开始|从现在起|以后(?:都|请|不|要)|一定要|不得|不准|不许|不可以|不能(?:再|直接|修改|使用|提交|删除)
        | しないで|ないでください|しないこと|するな|てはいけない|てはいけません|てはならない|てはなりません|絶対に|必ず|常に|今後は|これからは|禁止|のみ(?:使|を|に|で)|だけを?使|なければならない|なければなりません
        | (?:^|\W)(?:никогда|всегда|нельзя|обязательно|ни\ в\ коем\ случае|отныне)(?:\W|$) | ^\W*(?:только|не)\s+\w+(?:йте?|ть|ите|и)\b | 절대|항상|반드시|하지\s?마|지\s?마(?:세요|라|십시오)?
        | \b(?:nunca|sempre|jamais)\s+\w+ | ^\W*não\s+\w+ | ^\W*non\s+\w+(?:re|ate|are)\b | \bmai\s+\w+re\b",
    )
});

/// A wish that is a rule only in a sentence of its own that concerns more than the present work. Within a
/// request, or about one thing, it belongs to the task.
pub(super) static GENERAL_RULE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r#"(?ix)^["'“(*_]*(?:(?:please|pls|kindly|also)[,\s]+)*
        (?:
            (?: make|be )\s+ (?: absolutely\s+|very\s+|quite\s+ )? (?: sure|certain )\b[^.]*\b(?:every|everything|each|all|any|always|never|no|nothing|nobody|only|whenever|do\ not|don['’]t|must)\b
          | ensure\b[^.]*\b(?:every|everything|each|all|any|always|never|no|nothing|nobody|only|whenever|do\ not|don['’]t|must)\b
          | keep\ (?:away|off|out|your\ hands|all|every|any|to|each|within|commits?|functions?|lines?|files?|secrets?|everything|responses?|answers?|in\ mind)\b
          | keep\ [^.]{1,60}\b(?:under|below|within|at\ most|out\ of)\b
          | leave\s+.{1,60}\b(?:alone|untouched|unchanged|as\ (?:it\ is|is|they\ are)|in\ place)\b
        )"#,
    )
});

/// Words before a rule that only say that it was said before.
pub(super) static SAID_BEFORE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)^\W*(?:(?:as|like)\ )?I(?:['’]ve|\ have)?\ (?:already\ )?(?:told|said|asked|mentioned)(?:\ (?:you|it|this|that|before|already|to\ you))*\s*[:,–—-]\s*|^\W*(?:once\ )?again\s*[:,]\s*",
    )
});

/// Sentences that describe a fact although they begin like a demand.
pub(super) static DESCRIBES: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)
        \b(?:never\ mind|never\ (?:been|had|seen|got|heard|was|were|did|worked|knew|received|happened|ran|came|\w+ed)\b|always\ (?:been|had|was|were|got|\w+ed)\b)
        | \b(?:I|it|they|he|she|which|who|this|that)\ (?:(?:just|really|also|still|only|then)\ )?(?:never|always|only|must\ (?:have|admit|be\ missing|say|confess)|do\ not|don['’]?t|does\ not|doesn['’]?t|did\ not|didn['’]?t)\b
        | \b(?:we|you)\ (?:do\ not|don['’]?t|dont)\ (?:know|think|have|see|understand|remember|need|want|believe|care|recall|seem|mean|say|even|like|get)\b
        | ^\W*(?:sorry|oh|hmm|well|no|yes|yeah|ok(?:ay)?|and|but|so)?\W*(?:don['’]?t|do\ not)\ (?:worry|know|mind|bother|think|remember|understand|see|have|bother|hesitate|get\ me\ wrong)\b
        | \bmake\ sure\ (?:I|it['’]s\ me|i\ get|my\ understanding) | \b(?:just|to|want\ to|like\ to|trying\ to|can)\ (?:make|be)\ (?:sure|certain)\b
        | \b(?:like|want|hoping|hope|way|ways|trying|able|wish|appreciate|sure|there)\ (?:to|there|there\ must|on)\ (?:keep|ensure|avoid|stick|stay|prefer|must|finding|be)\b | \bthere\ must\b | \bcan['’]?t\ be\ (?:right|true|happening|serious|it)\b
        | \b(?:I|we)['’]?d?\ (?:would\ )?(?:really\ )?(?:also\ )?prefer\b | ^\W*no\ (?:problem|worries|thanks?|idea|luck|need|way|other\ (?:questions?|changes?|requests?)|more\ (?:questions?|changes?|requests?|info\w*))\b",
    )
});

/// Words that bind a rule to the task at hand.
pub(super) static ONCE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)\b(?:yet|for\ now|this\ time|for\ the\ moment|for\ the\ time\ being|just\ (?:this\ )?once|right\ now|at\ this\ (?:point|stage)|in\ this\ (?:task|step|change|pr|commit|patch|run|round|session\ only)
        |for\ this\ (?:task|one|change|pr|commit|step|run|fix|patch|request|ticket|refactor|round)|on\ this\ (?:pass|run|round|task)|today\ only|only\ today|while\ (?:you|we)(?:['’]re)?\b|until\ (?:this|that|the|we['’]re|it['’]?s?|you['’]?ve?|I['’]?ve?)\b[^.]{0,60}\b(?:done|finished|merged|green|over|passes|works|lands|landed|complete\w*|fixed|shipped|reviewed|back)
        |vorerst|diesmal|noch\ nicht|fürs\ erste|im\ moment|por\ ahora|esta\ vez|todavía|aún\ no|pour\ l['’]instant|cette\ fois|pas\ encore|per\ ora|por\ enquanto)\b
        | 暂时|这次|先不要|先别|目前|今回(?:は|だけ)|まだ|とりあえず|пока\ |на\ этот\ раз|이번에는|아직",
    )
});
