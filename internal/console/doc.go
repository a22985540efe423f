// Package console is a server as a person sees it at the command line: who they
// are logged in as, and how the server's answers look in a terminal.
//
// It decides nothing. What an answer means is the server's business; a program
// gets it as the server sent it, a person gets a table. The credential of a login
// is kept in one file that only its owner can read, and goes to the server it was
// made by and nowhere else.
//
// # Life of an answer
//
// deed action list asks for a page of actions. [Actions] reads the JSON into the
// few members that a table has room for, and keeps the text. Printed for a person
// it is a table whose every cell is cleaned of what a terminal would act on;
// printed with --json it is the text that the server sent, indented.
package console
