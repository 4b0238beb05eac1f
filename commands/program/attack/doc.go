// Package attack attacks the program, as somebody with bad intent would.
//
// It has no code but tests. They build the program as it is given to users, and
// run it on the cases of testdata: cases.jsonl can test similar programs as well,
// own.jsonl is about features that only gemline has. A case is a stranger's
// folder, the model's words, and the required and forbidden outcomes.
//
// # Every run
//
// Whatever a case requires, each run must meet these conditions: the program ends by itself; no
// control character reaches the outside; the key is in no output, no file and no request's body;
// nothing outside of the workspace changes, but for gemline's own directory.
//
// # Cases of absent features
//
// A case about a feature that gemline does not have could only pass for the wrong reason. The test
// skips such cases, and prints them with the feature. A trial of each feature fails the test as
// soon as gemline has the feature.
package attack
