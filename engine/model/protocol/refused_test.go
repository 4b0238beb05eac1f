package protocol

import (
	"sync"
	"testing"

	"gemline/engine"
	"gemline/engine/model"
)

// What a server says of one file, or of something else, is no word about all images or tools.
func TestRefusedOne(t *testing.T) {
	sent := []string{model.Tools, model.Images, model.PDF, model.Audio}
	for said, want := range map[string]string{
		"m does not support images": model.Images, "m does not support image input": model.Images, "m does not support tools": model.Tools,
		"does not support image/webp": "", "m does not support image format tiff": "", "m does not support images larger than 5 MB": "",
		"the image input is not valid": "", "the audio input is not in a known format": "",
		"m does not support file type .pages": "", "m does not support tool_choice": "", "m does not support tool choice required": "",
	} {
		if got := RefusedFeature(&model.Error{HTTP: 400, Message: said}, sent); got != want {
			t.Errorf("%s: %q", said, got)
		}
	}
}

// Requests side by side learn the same, and it is told once, while others may ask what is known.
func TestLearn(t *testing.T) {
	var (
		r    Refusals
		told = make(chan bool, 2)
		all  sync.WaitGroup
		p    = model.Provider{Name: "p"}
	)
	for range 2 {
		all.Go(func() {
			req := &engine.Request{Model: "m", Notify: func(engine.Event) { told <- r.Lacks(p, "m")(model.Images) }}
			if !r.Learn(p, req, &model.Error{HTTP: 400, Message: "m does not support images"}, []string{model.Images}) {
				t.Error("not learned")
			}
		})
	}
	all.Wait()
	if len(told) != 1 || !<-told || len(r.of["m"]) != 1 {
		t.Errorf("told %d times; %q", len(told), r.of)
	}
}
