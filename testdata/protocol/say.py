#!/usr/bin/env python3
"""Says each argument to gemline and prints the answers. Questions are asked at
standard error and answered on standard input; its end means no.

    python3 say.py "tidy up" "and now run the tests"

GEMLINE is the program, if it is not on the path."""
import json, os, subprocess, sys

def ask(question):
    print(question, end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()

gemline = subprocess.Popen([os.environ.get("GEMLINE", "gemline"), "--input-format", "stream-json"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def send(**line):
    gemline.stdin.write(json.dumps(line).encode() + b"\n")
    gemline.stdin.flush()

for text in sys.argv[1:]:
    send(type="user", content=text)
    for line in gemline.stdout:
        r = json.loads(line)
        if r["type"] == "message" and r["role"] == "assistant":
            print(r["content"], end="", flush=True)
        elif r["type"] == "approval_request":
            how = ask(r["detail"] + "\n" + r["title"] + (", w with the network?" if r.get("network_offered") else "?"))
            send(type="approval", id=r["id"], decision="allow" if how in ("y", "yes", "w") else "deny", network=how == "w")
        elif r["type"] == "question":
            send(type="answer", id=r["id"], answers=[ask(q["question"]) for q in r["questions"]])
        elif r["type"] == "turn_result":
            print()
            break
gemline.stdin.close()
gemline.stdout.read()  # the result of the whole
sys.exit(gemline.wait())
