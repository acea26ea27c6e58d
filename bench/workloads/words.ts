/**
 * Common English words that are one token each in BERT's vocabulary, so that n words have n tokens. A test checks this
 * with the embedded model's tokenizer.
 */
export const WORDS: readonly string[] = `
  account address again agent always amount answer april arrived asked august available back bank before
  begin best bill billing blue board book bought box bread bring broken brother building button call
  cancel car card careful case cause chair change charge charged check child choice city clean clear
  close closed code cold color come company complaint connect contact contract copy correct cost country
  court credit customer cut daily damage date day december delay delivered delivery desk detail device
  different dinner direct document door double down early east easy email empty end engine enough error
  evening event every example exchange expect expensive explain extra fail failed family fast fault
  february field file fill find fire first fix floor form free friday friend front full garden gate gift
  give glass gold good green group guest half hand happy hard heat heavy help high history hold home hope
  hotel hour house ice idea important increase inside install instead insurance issue item january job
  join july june keep key kind kitchen know lamp large last late later leave left letter level light
  limit line link list little local lock long look loss lost loud low machine mail main make manager
  manual march market match matter may meeting member message meter middle minute missing mobile monday
  money month morning move music name near need network never new news next nice night noise north note
  nothing notice november number october offer office often old online open option orange order other
  outside owner package page paid paint paper parcel part party password past pay payment people phone
  photo picture piece place plan plant plate please point police policy pool post power price print
  printer private problem product project promise public pull push put quality question queue quick quiet
  rain rate reach read ready really reason receipt receive red release remove rent repair replace reply
  report request reset rest result return review right road role roof room round rule safe sale same
  saturday save school screen search season seat second secure security see sell send september serial
  service set share sheet ship shipping shop short show shut side sign signal silver simple site size
  slow small smart snow software sold sound source south space speak special speed spring staff standard
  start state station stay step stop storage store storm street strong student summer sunday supply
  support sure switch system table take talk tall team technical test text thank thursday ticket time
  today together tomorrow tool top total touch tower town track trade train transfer travel tree trial
  trip trouble truck trust try tuesday turn two type update upgrade urgent use user value van version
  video view visit voice wait walk wall want warm watch water way wednesday week west wheel white window
  winter wire wish wood word work world write wrong year yellow yesterday young zone
`
  .trim()
  .split(/\s+/);
