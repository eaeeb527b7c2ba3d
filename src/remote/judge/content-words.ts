// Whether a quoted passage says anything: words that only connect others occur in every text.

/** `words`: lower case, separated by spaces. In other scripts than these languages use, every word counts. */
export function hasContentWord(words: string): boolean {
  return words.split(" ").some(word => word !== "" && !functionWords.has(word));
}

// English, German, Dutch, Scandinavian, French, Spanish, Portuguese, Italian, Polish, Czech, Russian, Turkish.
const functionWords = new Set(
  [
    "a an the this that these those i you he she it we they me him her us them my your his its our their who which what",
    "and or but nor so if then than as at by for from in into of off on onto out over to up with about after before",
    "is am are was were be been being do does did has have had can could will would shall should may might must there",
    "also just very too only here",
    "der die das den dem des ein eine einen einem einer eines und oder aber ich du er sie es wir ihr ihnen mir dir uns",
    "euch mein dein sein ist sind war waren bin bist hat haben hatte wird werden kann in im an am auf aus bei mit nach",
    "von vom zu zum zur für über um als wie so auch nur noch da dass",
    "de het een en of maar ik jij je u hij zij wij we ze zijn was waren heeft hebben kan zal in op aan bij met naar van",
    "voor te om als dan ook nog er dat die dit den det ett och eller men jag han hon vi ni är var har kan ska på av",
    "för till som att jeg hun på og er var har kan skal",
    "le la les un une des du au aux et ou mais je tu il elle nous vous ils elles on me te se lui leur mon ton son est",
    "sont était a ont être avoir dans sur sous par pour avec en à que qui ce cette ces y d l c j n s qu",
    "el los las una unos unas y o pero yo tú él ella nosotros ustedes ellos su sus mi tu es son era fue está están ha han",
    "del al en con por para a que se lo o os as um uma uns umas e ou mas eu ele ela nós vocês eles seu sua é são foi tem",
    "do da dos das na nos nas ao com por para que se",
    "il lo gli i uno ed ma io lui lei noi voi loro è sono era ha hanno di del della dei delle nel nella con su per che si",
    "i a w z na do od o to jest są był była ten ta te się że jak dla po za u v s se je jsou byl byla ten to že",
    "и а но или я ты он она оно мы вы они в на с к по из у о от до для за что как это есть был была было были",
    "ve veya ama bu şu o bir ben sen biz siz onlar için ile de da mi mı",
  ]
    .join(" ")
    .split(" "),
);
