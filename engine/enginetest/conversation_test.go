package enginetest_test

import (
	"encoding/json"
	"testing"

	"gemline/engine/enginetest"
)

func TestConversation(t *testing.T) {
	got, err := enginetest.ParseReplies(`
says Let me see.
 calls read_file file_path=a.txt limit=5
	calls run_shell_command command="echo \"a  b\"" list=["x",1] word=x url=a=b
 uses 10 2

thinks "\u202e"
 says "Well, "
 says "no"
 ends MAX_TOKENS
`)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	want := []string{
		`[{"candidates":[{"content":{"parts":[{"text":"Let me see."},` +
			`{"functionCall":{"args":{"file_path":"a.txt","limit":5},"name":"read_file"}},` +
			`{"functionCall":{"args":{"command":"echo \"a  b\"","list":["x",1],"url":"a=b","word":"x"},"name":"run_shell_command"}}],` +
			`"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":2,"promptTokenCount":10,"totalTokenCount":12}}]`,
		`[{"candidates":[{"content":{"parts":[{"text":"` + "\u202e" + `","thought":true}],"role":"model"}}]},` +
			`{"candidates":[{"content":{"parts":[{"text":"Well, "}],"role":"model"}}]},` +
			`{"candidates":[{"content":{"parts":[{"text":"no"}],"role":"model"},"finishReason":"MAX_TOKENS"}]}]`,
	}
	for i, w := range want {
		if b, _ := json.Marshal(got[i].Chunks); string(b) != w {
			t.Errorf("reply %d is\n%s\nwant\n%s", i, b, w)
		}
	}
	for _, bad := range []string{" says it", "shouts it", `says "it`, "calls f a", `calls f a="b`, "says it\n uses many", "calls f a=[1"} {
		if got, err := enginetest.ParseReplies(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}
