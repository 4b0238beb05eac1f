package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

func TestList(t *testing.T) {
	first := et.Whole(`{"models":[{"name":"models/a","displayName":"A","inputTokenLimit":9,"outputTokenLimit":2,"supportedGenerationMethods":["generateContent"]},
		{"name":"models/embed","supportedGenerationMethods":["embedContent"]},{"name":"models/\u001b[2J"}],"nextPageToken":"p 2"}`)
	second := et.Whole(`{"publisherModels":[{"name":"publishers/google/models/b"}]}`)
	for _, c := range []struct {
		name    string
		replies []et.Reply
		want    []model.ModelInfo
		wrong   string
	}{
		{"one", nil, []model.ModelInfo{{Name: "gemini-2.5-flash", Title: "Flash", Input: 1048576, Output: 65536}}, ""},
		{"pages", []et.Reply{first, second}, []model.ModelInfo{{Name: "a", Title: "A", Input: 9, Output: 2}, {Name: "b"}}, ""},
		{"none", []et.Reply{et.Whole(`{}`)}, nil, ""},
		{"refused", []et.Reply{et.BadKey()}, nil, "API key not valid"},
		{"an error beside others", []et.Reply{et.Whole(`{"models":[],"error":{"code":400,"message":"not you"}}`)}, nil, "not you"},
		{"a web page", []et.Reply{et.WebPage(200, "Log in")}, nil, "Log in"},
		{"no JSON", []et.Reply{et.Whole(`{"models":[`)}, nil, "unexpected end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t)
			s.ListReplies = c.replies
			got, err := g.List(t.Context())
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			last := s.Requests()[len(s.Requests())-1]
			if last.Method != "GET" || len(last.Body) > 0 || last.Header.Get("X-Goog-Api-Key") != key || c.name == "pages" && !strings.Contains(last.Query, "pageToken=p+2") {
				t.Errorf("the request was %+v", last)
			}
		})
	}
	g, err := model.NewGenai(model.Options{Google: model.Google{CodeAssist: true, Account: func() ([]byte, string, error) { return nil, "", nil }}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.List(t.Context())
	if e := (*model.Error)(nil); !errors.As(err, &e) {
		t.Errorf("Code Assist: %v", err)
	}
}
