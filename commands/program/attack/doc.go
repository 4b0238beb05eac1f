// Package attack tries the program out as those would who mean harm.
//
// It has no code but tests. They build the program as it is given to users, and
// run it on the cases of testdata: cases.jsonl can test similar programs as well,
// own.jsonl is about features that only gemline has. A case is a stranger's
// folder, the model's words, and the required and forbidden outcomes.
//
// # Every run
//
// Whatever a case wants to see, some things hold for each run: the program ends
// by itself; no control character reaches the outside; the key is in no output,
// no file and no request's body; nothing outside of the workspace changes, but
// for gemline's own directory.
//
// # Pending
//
// A case about a feature that gemline does not have can only pass for the wrong
// reason. Such cases are not run, and named with the feature. Each feature has a
// trial, which fails the test as soon as the feature is there.
package attack
