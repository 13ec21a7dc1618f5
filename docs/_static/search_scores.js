// Scores of the site's search: the defaults of Sphinx, and more for the page that a search for "my model" should find first
// ("my" and "own" are stop words, so all pages with models in their titles would tie).
var Scorer = {
  score: ([page, title, anchor, description, score]) => score + (page === "docs/own-model" && score >= 15 ? 20 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
