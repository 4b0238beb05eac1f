package enginetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A job is a batch of requests on a [Server]. The replies, in order, are in the answer to a
// request for its state.
type job struct {
	name, title, model string
	requests           []inlined
	polls              int
	output             []map[string]any
}

type inlined struct {
	Request  json.RawMessage `json:"request"`
	Metadata map[string]any  `json:"metadata"`
}

// batch returns the reply to a request about jobs.
func (s *Server) batch(got Received) (Reply, bool) {
	_, name, about := strings.Cut(got.Path, "/batches")
	switch {
	case got.Method == http.MethodPost && got.Action == "batchGenerateContent":
		return s.take(got), true
	case got.Method != http.MethodGet || !about || got.Action != "":
		return Reply{}, false
	case name == "":
		var all []any
		for i := range s.jobs { // the latest first
			all = append(all, s.jobs[len(s.jobs)-1-i].operation(false))
		}
		return jsonReply(map[string]any{"operations": all}), true
	}
	for _, j := range s.jobs {
		if j.name == "batches"+name {
			return s.look(j), true
		}
	}
	return Status(http.StatusNotFound, "NOT_FOUND", "there is no such job"), true
}

// take accepts a job.
func (s *Server) take(got Received) Reply {
	var body struct {
		Batch struct {
			DisplayName string
			InputConfig struct{ Requests struct{ Requests []inlined } }
		}
	}
	if err := json.Unmarshal(got.Body, &body); err != nil ||
		len(body.Batch.InputConfig.Requests.Requests) == 0 || body.Batch.DisplayName == "" {
		return BadRequest("the job makes no sense")
	}
	if len(s.replies) > 0 && s.replies[0].Wire != nil && s.replies[0].Wire.Status != 0 {
		return take(&s.replies) // the job is refused
	}
	j := &job{name: fmt.Sprintf("batches/job%d", len(s.jobs)+1), title: body.Batch.DisplayName, model: got.Model,
		requests: body.Batch.InputConfig.Requests.Requests}
	s.jobs = append(s.jobs, j)
	if s.Unanswered > 0 {
		s.Unanswered--
		return Silent()
	}
	return jsonReply(j.operation(false))
}

// look returns the state of j.
func (s *Server) look(j *job) Reply {
	if j.polls++; j.polls <= s.Polls {
		return jsonReply(j.operation(false))
	}
	if j.output == nil {
		for _, r := range j.requests {
			reply := s.generate(Received{Model: j.model, Action: "generateContent", Body: r.Request})
			out := map[string]any{"metadata": r.Metadata}
			if reply.Wire != nil && reply.Wire.Status != 0 {
				out["error"] = rpcStatus(reply.Wire.Body)
			} else {
				out["response"] = json.RawMessage(unary(reply.Chunks))
			}
			j.output = append(j.output, out)
		}
	}
	return jsonReply(j.operation(true))
}

// operation returns the API's description of a job.
func (j *job) operation(over bool) map[string]any {
	const kind = "type.googleapis.com/google.ai.generativelanguage.v1main."
	metadata := map[string]any{"@type": kind + "GenerateContentBatch", "name": j.name,
		"displayName": j.title, "model": "models/" + j.model,
		"state": "BATCH_STATE_PENDING", "createTime": "2026-01-02T03:04:05.678901234Z", "updateTime": "2026-01-02T03:04:05.678901234Z",
		"batchStats": map[string]any{"requestCount": fmt.Sprint(len(j.requests)), "pendingRequestCount": fmt.Sprint(len(j.requests))}}
	o := map[string]any{"name": j.name, "metadata": metadata}
	if j.polls > 0 {
		metadata["state"] = "BATCH_STATE_RUNNING"
	}
	if over {
		output := map[string]any{"inlinedResponses": map[string]any{"inlinedResponses": j.output}}
		metadata["state"], metadata["output"] = "BATCH_STATE_SUCCEEDED", output
		o["done"] = true
		o["response"] = map[string]any{"@type": kind + "GenerateContentBatchOutput",
			"inlinedResponses": output["inlinedResponses"]}
	}
	return o
}

// rpcStatus returns the error in a body in the form for jobs, with a gRPC code.
func rpcStatus(body string) map[string]any {
	var b struct {
		Error struct {
			Code    int
			Message string
			Details []any
		}
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		panic(fmt.Sprintf("enginetest: an error that is not JSON: %v", err))
	}
	codes := map[int]int{400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
	return map[string]any{"code": codes[b.Error.Code], "message": b.Error.Message, "details": b.Error.Details}
}

func jsonReply(v any) Reply {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("enginetest: %v", err))
	}
	return Whole(string(b))
}
