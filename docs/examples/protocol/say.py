#!/usr/bin/env python3
"""Says each argument to gemline and prints the answers. Questions are asked at
standard error and answered on standard input; its end means no.

    python3 say.py "tidy up" "and now run the tests"

GEMLINE is the program, if it is not on the path. Programs import Gemline."""
import json, os, subprocess, sys

class Gemline:
    """A conversation: say yields an answer, decide returns fields of an approval, reply the answers to a question."""
    def __init__(self, *args, decide=lambda r: {"decision": "deny"}, reply=lambda r: []):
        self.decide, self.reply, self.result = decide, reply, None
        self.process = subprocess.Popen([os.environ.get("GEMLINE", "gemline"), "--input-format", "stream-json", *args],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, **line):
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def say(self, text):
        self.send(type="user", content=text)
        for line in self.process.stdout:
            r = json.loads(line)
            if r["type"] == "message" and r["role"] == "assistant":
                yield r["content"]
            elif r["type"] == "approval_request":
                no = {"type": "approval", "id": r["id"], "decision": "deny"}
                self.send(**no | self.decide(r))
            elif r["type"] == "question":
                no = {"type": "answer", "id": r["id"], "answers": []}
                self.send(**no | {"answers": self.reply(r)})
            elif r["type"] == "error":
                print(r["message"], file=sys.stderr)
                if r.get("open"): self.send(**no)  # the question still waits
            elif r["type"] == "turn_result":
                if r.get("error"): print(r["error"]["message"], file=sys.stderr)
                self.result = r
                return

    def close(self):
        self.process.communicate()  # the result of the whole
        return self.process.returncode

if __name__ == "__main__":
    def ask(question, options=()):
        print(question, *(o["label"] for o in options), end=" ", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip()

    def decide(r):
        how = ask(r["detail"] + "\n" + r["title"] + (", w with the network?" if r.get("network_offered") else "?"))
        return {"decision": "allow" if how in ("y", "yes", "w") else "deny", "network": how == "w"}

    gemline = Gemline(decide=decide, reply=lambda r: [ask(q["question"], q.get("options", ())) for q in r["questions"]])
    for text in sys.argv[1:]:
        for piece in gemline.say(text):
            print(piece, end="", flush=True)
        print()
    sys.exit(gemline.close())
