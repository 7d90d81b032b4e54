// Package tui is the console: the screen on which a person follows a run and says what is to be
// done about it.
//
// It draws the fold of the journal and decides nothing. A Story folds the records of a run, the
// same ones that are in its log, so whoever walks a run and whoever watches it see the same
// screen. What a person types goes out as a Typed line; whoever drives the walk takes it as it takes
// a line from a plain terminal, and answers in words.
//
//	log or walk ──Event──▶ Story ──▶ sections ──▶ layout ──▶ screen
//	                                       keys and lines ──Typed──▶ driver
//
// # Keys and words
//
// Letters always go into the line at the bottom, so that no slip of a finger does anything: what acts is
// a word and Enter. Keys only look: they change what is shown. What was pasted, came faster
// than a hand can type or stood there before a question appeared is marked, and approves nothing.
//
// # Room
//
// A screen is made of sections, each of which says how many rows it needs at least and how many it
// could use. The layout gives the least to each in the order of what a person needs most, then
// the rest in the same order. In 40 columns and 10 rows the step, its verdict, what blocks and the
// keys are left.
//
// # Text from outside
//
// Everything that is drawn goes through clean, which makes visible what a terminal would obey, and is
// cut and padded by the cells that it takes. State is never said by colour alone.
package tui
