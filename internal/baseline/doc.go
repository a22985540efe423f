// Package baseline tells how large an answer is beside answers that were
// measured before: a census of public MCP servers, built into the program.
//
// It compares wire bytes with wire bytes only: the whole answer line with its
// line end, as a journal counts it. It must not compare answers that failed,
// must not say a percentile of a handful of values, and must not keep quiet
// about how many values it compares with. It reaches for nothing outside the
// program, and reads the built-in census only when it is asked to.
//
// # Life of a comparison
//
// npx -y @scope/notes@1.2 answers list_notes with 9,000 bytes. [FromCommand]
// makes npm:@scope/notes of the command. The census has that package and, for
// list_notes, the sizes of five answers: [Census.Compare] compares with those.
// Had it fewer than [Fewest] of them, it would compare with the package's
// tools, and had it too few of these, with the tools of all packages. What
// comes out reads "larger than all 5 calls of this tool, 3.2x their median".
package baseline
