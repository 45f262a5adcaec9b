package rig

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// anthropic is the messages API (POST /v1/messages).
type anthropic struct{}

func (anthropic) read(body []byte) (Conversation, error) {
	var in struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Name string }
	}
	c := Conversation{Wire: "anthropic"}
	if err := json.Unmarshal(body, &in); err != nil {
		return c, err
	}
	for _, tool := range in.Tools {
		if slices.Contains([]string{"Bash", "bash", "run_shell_command"}, tool.Name) {
			c.Shell = tool.Name
		}
	}
	for _, m := range in.Messages {
		if m.Role != "user" {
			continue
		}
		text, results := blocks(m.Content)
		joined := strings.Contains(text, "ROLE: ") // a prompt that continues an interrupted turn
		if len(results) > 0 && !joined {
			c.Results = append(c.Results, results...)
		} else if !reminder(text) {
			c.Prompts, c.Results = append(c.Prompts, text), nil
		}
	}
	return c, nil
}

// reminder reports whether a text is only what the CLI adds on behalf of the user.
func reminder(text string) bool {
	_, rest, _ := strings.Cut(text, "</system-reminder>")
	return strings.HasPrefix(strings.TrimSpace(text), "<system-reminder>") && strings.TrimSpace(rest) == ""
}

// blocks decodes the content of a message: a string, or blocks of text and tool results.
func blocks(content json.RawMessage) (text string, results []string) {
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type, Text string
		Content    json.RawMessage
	}
	_ = json.Unmarshal(content, &parts) // other content is ignored
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text + "\n"
		case "tool_result":
			inner, _ := blocks(p.Content)
			results = append(results, inner)
		}
	}
	return text, results
}

func (anthropic) write(w http.ResponseWriter, a answered) {
	content, reason := object{"type": "text", "text": a.reply.Text}, "end_turn"
	delta := object{"type": "text_delta", "text": a.reply.Text}
	if a.reply.Run != "" {
		reason = "tool_use"
		content = object{"type": "tool_use", "id": "toolu_" + a.id, "name": a.c.Shell, "input": object{}}
		input := object{"command": a.reply.Run, "description": "a step"}
		if a.c.Shell == "run_shell_command" {
			input["is_background"] = false
		}
		delta = object{"type": "input_json_delta", "partial_json": string(mustJSON(input))}
	}
	if a.reply.Read != "" {
		reason = "tool_use"
		content = object{"type": "tool_use", "id": "toolu_" + a.id, "name": "Read", "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(mustJSON(object{"file_path": a.reply.Read}))}
	}
	used := object{"input_tokens": a.usage.input - a.usage.cached, "cache_read_input_tokens": a.usage.cached, "cache_creation_input_tokens": 0, "output_tokens": a.usage.output}
	s := newStream(w)
	s.send("message_start", object{"type": "message_start", "message": object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": "fake-model", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": used,
	}})
	if content["type"] == "text" {
		content["text"] = ""
	}
	s.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": content})
	s.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	s.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	s.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": a.usage.output}})
	s.send("message_stop", object{"type": "message_stop"})
}

func (anthropic) failure(r Reply) []byte {
	kinds := map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
	kind := kinds[r.Status]
	if kind == "" {
		kind = "api_error"
	}
	return mustJSON(object{"type": "error", "error": object{"type": kind, "message": r.Error}})
}

// responses is the OpenAI responses API (POST /v1/responses).
type responses struct{}

func (responses) read(body []byte) (Conversation, error) {
	var in struct {
		Input []struct {
			Type, Role string
			Content    []struct{ Type, Text string }
			Output     json.RawMessage
		}
		Tools []struct{ Name string }
	}
	c := Conversation{Wire: "responses"}
	if err := json.Unmarshal(body, &in); err != nil {
		return c, err
	}
	for _, tool := range in.Tools {
		if slices.Contains([]string{"exec_command", "shell_command"}, tool.Name) {
			c.Shell = tool.Name
		}
	}
	for _, item := range in.Input {
		switch {
		case item.Type == "function_call_output":
			text, _ := blocks(item.Output)
			c.Results = append(c.Results, text)
		case item.Role == "user":
			var text strings.Builder
			for _, part := range item.Content {
				text.WriteString(part.Text)
			}
			c.Prompts, c.Results = append(c.Prompts, text.String()), nil
		}
	}
	return c, nil
}

func (responses) write(w http.ResponseWriter, a answered) {
	item := object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "content": []any{object{"type": "output_text", "text": a.reply.Text}}}
	if a.reply.Run != "" {
		key := "cmd"
		if a.c.Shell == "shell_command" {
			key = "command"
		}
		item = object{"type": "function_call", "id": "fc_" + a.id, "call_id": a.id, "name": a.c.Shell, "arguments": string(mustJSON(object{key: a.reply.Run}))}
	}
	s := newStream(w)
	s.send("response.created", object{"type": "response.created", "response": object{"id": "resp_" + a.id}})
	s.send("response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	s.send("response.completed", object{"type": "response.completed", "response": object{"id": "resp_" + a.id, "usage": object{
		"input_tokens": a.usage.input, "input_tokens_details": object{"cached_tokens": a.usage.cached},
		"output_tokens": a.usage.output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": a.usage.input + a.usage.output,
	}}})
}

func (responses) failure(r Reply) []byte {
	return mustJSON(object{"error": object{"message": r.Error, "type": "invalid_request_error", "code": nil}})
}

// gemini is the Gemini API (POST /v1beta/models/MODEL:streamGenerateContent).
type gemini struct{}

func (gemini) read(body []byte) (Conversation, error) {
	var in struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse *struct{ Response json.RawMessage }
			}
		}
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	c := Conversation{Wire: "gemini"}
	if err := json.Unmarshal(body, &in); err != nil {
		return c, err
	}
	for _, group := range in.Tools {
		for _, tool := range group.FunctionDeclarations {
			if tool.Name == "run_shell_command" {
				c.Shell = tool.Name
			}
		}
	}
	for _, content := range in.Contents {
		if content.Role == "model" {
			continue
		}
		text, results := "", []string(nil)
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				results = append(results, string(part.FunctionResponse.Response))
			}
			text += part.Text + "\n"
		}
		if len(results) > 0 {
			c.Results = append(c.Results, results...)
		} else if strings.TrimSpace(text) != "" {
			c.Prompts, c.Results = append(c.Prompts, text), nil
		}
	}
	return c, nil
}

func (gemini) write(w http.ResponseWriter, a answered) {
	part := object{"text": a.reply.Text}
	if a.reply.Run != "" {
		part = object{"functionCall": object{"id": a.id, "name": a.c.Shell, "args": object{"command": a.reply.Run, "description": "a step"}}}
	}
	if a.whole { // the CLI asks how complex a prompt is, to choose a model
		part = object{"text": `{"complexity_reasoning":"fake","complexity_score":50}`}
	}
	out := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": a.usage.input, "cachedContentTokenCount": a.usage.cached, "candidatesTokenCount": a.usage.output, "totalTokenCount": a.usage.input + a.usage.output},
		"modelVersion":  "fake-model",
	}
	if a.whole {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(mustJSON(out))
		return
	}
	newStream(w).send("", out)
}

func (gemini) failure(r Reply) []byte {
	kinds := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
	kind := kinds[r.Status]
	if kind == "" {
		kind = "INTERNAL"
	}
	return mustJSON(object{"error": object{"code": r.Status, "message": r.Error, "status": kind}})
}
