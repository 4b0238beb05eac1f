package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// abouts are what servers of other protocols say of their models.
var abouts = map[string]string{
	"/v1/models": `{"data":[{"id":"x","max_model_len":1000000}]}`,
	"/api/show":  `{"capabilities":["completion","tools"],"model_info":{"x.context_length":1000000}}`,
	"/api/ps":    `{"models":[{"name":"x"}]}`,
}

// A dialect is how the words of an answer travel by a protocol.
type dialect struct {
	name, path       string
	first, word, end string
}

var dialects = []dialect{
	{"openai", "/v1/chat/completions",
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%05d \"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,\"total_tokens\":12}}\n\ndata: [DONE]\n\n"},
	{"anthropic", "/v1/messages",
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word%05d \"}}\n\n",
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
	{"ollama", "/api/chat", "",
		"{\"model\":\"x\",\"created_at\":\"2026-11-28T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"word%05d \"},\"done\":false}\n",
		"{\"model\":\"x\",\"created_at\":\"2026-11-28T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":10,\"eval_count\":2}\n"},
}

// providers measures the streams of other protocols.
func (b *bench) providers() {
	const n = 20000
	home := filepath.Join(b.dir, "home", ".gemini")
	check(os.MkdirAll(home, 0o700))
	settings := filepath.Join(home, "settings.json")
	check(os.WriteFile(settings, fmt.Appendf(nil, `{"providers": {"openai": {"baseUrl": "%[1]s/v1"}, "anthropic": {"baseUrl": "%[1]s"}, "ollama": {"baseUrl": "%[1]s"}}}`, b.server.url), 0o600))
	b.env = append(b.env, "OPENAI_API_KEY=key-of-the-bench", "ANTHROPIC_API_KEY=key-of-the-bench")
	defer func() {
		b.env = b.env[:len(b.env)-2]
		os.Remove(settings)
	}()
	for _, d := range dialects {
		b.server.reply.Store(func(_ int, w http.ResponseWriter) {
			flush := http.NewResponseController(w).Flush
			io.WriteString(w, d.first)
			for i := range n {
				fmt.Fprintf(w, d.word, i)
				if i%50 == 0 {
					flush()
				}
			}
			io.WriteString(w, d.end)
		})
		each := func(s sample) float64 { return cpu(s) * 1000 / n }
		for _, f := range formats {
			least := func() sample {
				return b.run(append([]string{b.floor, "stream", d.name, b.server.url + d.path}, f.floor...)...)
			}
			us := func() sample { return b.run(b.bin, "-p", "go", "-m", d.name+"/x", "-q", "-o", f.name) }
			what := "20,000 chunks as " + f.name + ", " + d.name
			row(what, "ms", b.times(wall, us), "floor", b.times(wall, least))
			row(what+", CPU a chunk", "us", b.times(each, us), "floor", b.times(each, least))
		}
	}
}
