//! Function words: articles, pronouns, prepositions, conjunctions, auxiliaries and the words that begin questions. They
//! identify a language, and carry no meaning in a query.
//!
//! Lowercase, without accents, as the index has them.

/// English.
pub(super) const ENGLISH: &str = "a about above after again against all also am an and any anybody anyone anything are aren as at \
    be because been before being below between both but by can cannot could couldn did didn do does doesn doing don \
    down during each either else ever few for from further get give got had hadn has hasn have haven having he her here \
    hers herself him himself his how i if in into is isn it its itself just kind let like ll me mine more most mr mrs \
    much must my myself neither no nor not of off on once one only or other our ours ourselves out over own please re \
    same shall she should shouldn show so some somebody someone something still such tell than that the their theirs \
    them themselves then there these they thing this those through to too under until up upon us ve very was wasn we \
    were weren what whatever when where whether which while who whom whose why will with within without won would \
    wouldn yes yet you your yours yourself yourselves";

/// German; `ß` stays, umlauts have lost their dots.
pub(super) const GERMAN: &str = "aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf \
    aus bei beim bin bis bist da dabei dadurch dafur damit danach dann daran darauf daraus darin das dass daß davon dazu \
    dein deine deinem deinen deiner dem den denn der deren des dessen dich die dies diese diesem diesen dieser dieses \
    dir doch dort du durch ein eine einem einen einer eines einige einmal er es etwas euch euer eure fur gab gegen \
    gewesen gibt habe haben hat hatte hatten hattest hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres \
    im immer in ins ist ja jede jedem jeden jeder jedes jene jetzt kann kein keine keinem keinen keiner konnen konnte \
    konnten man manche mehr mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob \
    oder ohne sehr seid sein seine seinem seinen seiner seit selbst sich sie sind so solche soll sollte sondern sonst \
    uber um und uns unser unsere unserem unseren unserer unter viel vom von vor wahrend wann war waren warst warum was \
    weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso wieviel will wir \
    wird wo wobei wofur woher wohin wollen wollte womit worden worum wurde wurden zu zum zur zwar zwischen";

/// French.
pub(super) const FRENCH: &str = "ai aie ait alors apres as au aucun aucune aussi autre aux avaient avais avait avant avec avez avoir avons \
    c ca car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci combien comme comment d dans de depuis des \
    deux donc dont du elle elles en encore entre es est et etaient etais etait etant ete etes etre eu eux fait faut il \
    ils j je jusque l la le les lequel laquelle leur leurs lui m ma mais me meme memes mes moi mon n ne ni nos notre \
    nous on ont ou par parce pas peu peut plus pour pourquoi qu quand que quel quelle quelles quels quelque qui quoi s sa \
    sans se sera seront ses si soi soit sommes son sont sous sur t ta te tes toi ton tous tout toute toutes tres tu un \
    une vers voici voila vos votre vous y";

/// Spanish.
pub(super) const SPANISH: &str = "a al algo alguien algun alguna algunas algunos alli ante antes aqui asi aun aunque bajo cada como con \
    contra cual cuales cualquier cuando cuanta cuantas cuanto cuantos de del desde donde dos durante e el ella ellas \
    ellos en entonces entre era eran es esa esas ese eso esos esta estaba estaban estado estamos estan estar estas este \
    esto estos estoy fue fueron ha habia habian han hasta hay he hemos la las le les lo los mas me mi mis mucho muchos \
    muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque pues que quien \
    quienes se sea ser si sido siempre sin sobre solo son soy su sus tal tambien tampoco tan tanto te tenia tiene tienen \
    toda todas todo todos tu tus un una unas uno unos usted ustedes y ya yo";

/// Italian.
pub(super) const ITALIAN: &str = "a abbia abbiamo agli ai al alla alle allo allora anche ancora avere aveva avevano c che chi ci ciascuno \
    cio come con contro cosa cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di dopo \
    dove due e ed era erano essere fa fino fra fu gia gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me \
    mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello noi non nostra nostre nostri nostro o ogni \
    oppure per perche pero piu poi prima proprio qual quale quali qualche quando quanta quante quanti quanto quella \
    quelle quelli quello questa queste questi questo qui se sei senza si sia siamo sono sopra sotto sta stata state \
    stati stato su sua sue sugli sui sul sulla sulle sullo suo suoi tra tu tua tue tuo tuoi tutta tutte tutti tutto un \
    una uno vi voi vostra vostro";

/// Portuguese.
pub(super) const PORTUGUESE: &str = "a ainda algum alguma alguns ao aos apenas apos aquela aquelas aquele aqueles aquilo as ate cada com \
    como contra da das de dela delas dele deles depois desde dessa desse desta deste do dois dos durante e ela elas ele \
    eles em entao entre era eram essa essas esse esses esta estao estamos estar estas estava estavam este estes estou eu \
    foi foram fui ha havia isso isto ja la lhe lhes mais mas me mesmo meu meus minha minhas muito na nao nas nem nessa \
    nesse nesta neste no nos nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos pois \
    por porque qual quais qualquer quando quanta quantas quanto quantos que quem se seja sem sempre ser seu seus si sido \
    so sob sobre sou sua suas tambem tanto te tem tenho ter teu teve tinha toda todas todo todos tu tua um uma umas uns \
    vai voce voces";

/// Dutch.
pub(super) const DUTCH: &str = "aan al alle allemaal alles als altijd andere ben bij bijna daar daarna dan dat de deze die dit doch doen door \
    dus een eens en er ge geen geweest haar had hadden heb hebben hebt heeft heel hem het hier hij hoe hoeveel hun iemand \
    iets ik in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten mocht na naar niet \
    niets nog nooit nu of om omdat onder ons onze ook op over reeds sinds te tegen toch toen tot u uit uw van veel voor \
    waar waarom waarop wanneer waren was wat we weer welk welke wel werd werden wie wij wil worden wordt zal ze zelf zich \
    zij zijn zo zonder zou zouden";

/// Swedish.
pub(super) const SWEDISH: &str = "alla allt alltid an annan annat att av bara bli blir blev da dar de dem den denna deras dess dessa det detta \
    dig din dina ditt du efter eller en er ert ett fick for fore fran genom gor ha hade han hans har helt henne hennes \
    hon honom hos hur i icke igen ingen inget inom inte ja jag kan kunde man med mellan men mer mig min mina mitt mot \
    mycket nagon nagot nagra nar ni nu och ocksa om oss over pa redan sa sadan samma sedan sig sin sina sitt ska skall \
    skulle som till under upp ut utan vad vad var vara varfor varit varje vars vart vem vi vid vilka vilken vilket vill";

/// Danish, and Norwegian.
pub(super) const DANISH: &str = "ad af aldrig alle alt altid anden andet andre at blev blive bliver da de dem den denne der deres det dette dig \
    din disse dog du efter eller en end er et fik for fordi fra gjorde gor ham han hans har hende hendes her hos hun \
    hvad hva hvem hver hvilken hvilke hvis hvor hvordan hvorfor hvornar i ikke ind ingen intet ja jeg jer jo kan kom \
    kun kunne lige man mange med meget mellem men mere mig min mine mit mod mot naar nar ned nej noget nogen nogle nok nu \
    og ogsa om op os over pa sa saa seg selv ser si sig sin sine sit skal skulle som til ud under ut vaere var ved vi \
    vil ville vores";

/// Russian; `ё` has lost its dots.
pub(super) const RUSSIAN: &str = "а без более больше будет будто бы был была были было быть в вам вас ваш ваша ваше ваши весь во вот впрочем все \
    всегда всего всех вы где да даже для до другие другой его ее ей если есть еще ж же за зачем здесь и из или им их к \
    как какая какие какой каком когда кого кому конечно которая которого которое которые который кто куда ли лучше между \
    меня мне много может можно мои мой моя мы на над надо наконец нам нас наш наша наше наши не него нее ней нельзя нет ни \
    нибудь никогда ним них ничего но ну о об один он она они оно опять от откуда перед по под после потому почему почти \
    при про раз разве с сам самый свои свою своя себе себя сейчас сколько со совсем так такая такие такой там тебе тебя \
    тем теперь то тогда того тоже только том тот три тут ты у уж уже хорошо хоть чего чей чем через что чтобы чуть эта \
    эти это этого этой этом этот эту я";
