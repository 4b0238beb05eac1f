// Say says each argument to gemline and prints the answers. What needs approval is told at
// standard error and decided by $DECISION: allow, always or deny, which is meant without it.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
)

type record = map[string]any // a line, of either side

// say says a text and prints the answer.
func say(text, decision string, in *json.Encoder, out *json.Decoder) error {
	in.Encode(record{"type": "user", "content": text})
	for {
		r := record{}
		if err := out.Decode(&r); err != nil {
			return err
		}
		switch r["type"] {
		case "message":
			if r["role"] == "assistant" {
				fmt.Print(r["content"])
			}
		case "approval_request":
			fmt.Fprintf(os.Stderr, "%v? %s\n", r["title"], decision)
			in.Encode(record{"type": "approval", "id": r["id"], "decision": decision})
		case "question":
			in.Encode(record{"type": "answer", "id": r["id"], "answers": []string{}})
		case "error": // open: the decision was none, and the question still waits
			if fmt.Fprintln(os.Stderr, r["message"]); r["open"] == true {
				in.Encode(record{"type": "approval", "id": r["id"], "decision": "deny"})
			}
		case "turn_result":
			return nil
		}
	}
}

func main() {
	cmd := exec.Command(cmp.Or(os.Getenv("GEMLINE"), "gemline"), "--input-format", "stream-json")
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	in, out, err := json.NewEncoder(stdin), json.NewDecoder(stdout), cmd.Start()
	for _, text := range os.Args[1:] {
		err = cmp.Or(err, say(text, cmp.Or(os.Getenv("DECISION"), "deny"), in, out))
		fmt.Println()
	}
	stdin.Close()
	io.Copy(io.Discard, stdout)
	if err = cmp.Or(err, cmd.Wait()); err != nil {
		log.Fatal(err)
	}
}
