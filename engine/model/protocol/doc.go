// Package protocol has the common parts of the generators for providers other than Google:
// writing a conversation for a server, and reading its answer.
//
// # A conversation is Google's
//
// The history has one form, that of google.golang.org/genai, whoever has answered. A
// generator writes it in the words of its server for each request, and nothing of that stays.
// What a server does not take is said in words ([DescribeFile]); ids that it refuses are
// replaced by others, the same ones each time ([ID]).
//
// # An answer has faults
//
// An [Answer] is told what a stream says, piece by piece, and emits chunks. Calls whose arguments
// come in pieces are emitted whole, at the end. An answer with a call that can't be read is
// requested again. A call that is written as text counts only if the answer is nothing else but a
// thought. A thought between <think> and </think> counts only at the beginning.
package protocol
