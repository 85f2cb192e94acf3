// The official Go SDK.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const (
	question     = "When do I pay?"
	toolQuestion = "What does a ride of 3 stops cost?"
	toolName     = "get_fare"
	unknownModel = "unheard-of"
)

var (
	model    = os.Getenv("CLIENT_MODEL")
	sentence = os.Getenv("CLIENT_SENTENCE")
	ctx      = context.Background()
	client   = clientOf(os.Getenv("CLIENT_KEY"))
)

func clientOf(key string) openai.Client {
	return openai.NewClient(
		option.WithBaseURL(os.Getenv("CLIENT_BASE_URL")),
		option.WithAPIKey(key),
		option.WithMaxRetries(0),
	)
}

func ask(model string, text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

func expect(actual, expected any) error {
	is, want := fmt.Sprintf("%#v", actual), fmt.Sprintf("%#v", expected)
	if is != want {
		return fmt.Errorf("%s instead of %s", is, want)
	}
	return nil
}

func chat() error {
	reply, err := client.Chat.Completions.New(ctx, ask(model, question))
	if err != nil {
		return err
	}
	return expect(reply.Choices[0].Message.Content, sentence)
}

func stream() error {
	text := ""
	frames := client.Chat.Completions.NewStreaming(ctx, ask(model, question))
	for frames.Next() {
		text += frames.Current().Choices[0].Delta.Content
	}
	if err := frames.Err(); err != nil {
		return err
	}
	return expect(text, sentence)
}

func tool() error {
	params := ask(model, toolQuestion)
	params.Tools = []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name:        toolName,
			Description: openai.String("What a ride costs"),
			Parameters: openai.FunctionParameters{
				"type":       "object",
				"properties": map[string]any{"stops": map[string]any{"type": "integer"}},
				"required":   []string{"stops"},
			},
		}),
	}
	first, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	message := first.Choices[0].Message
	if err := expect(len(message.ToolCalls), 1); err != nil {
		return err
	}
	call := message.ToolCalls[0]
	var given struct{ Stops int }
	if err := json.Unmarshal([]byte(call.Function.Arguments), &given); err != nil {
		return err
	}
	if err := expect(fmt.Sprint(call.Function.Name, given.Stops), fmt.Sprint(toolName, 3)); err != nil {
		return err
	}
	params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("3 dollars", call.ID))
	second, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	return expect(second.Choices[0].Message.Content, sentence)
}

func list() error {
	models := client.Models.ListAutoPaging(ctx)
	for models.Next() {
		if one := models.Current(); one.ID == model {
			return expect([]any{one.JSON.Object.Valid(), one.JSON.Created.Valid()}, []any{true, true})
		}
	}
	if err := models.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%s is not in the list", model)
}

func retrieve() error {
	one, err := client.Models.Get(ctx, model)
	if err != nil {
		return err
	}
	return expect([]any{one.ID, one.JSON.Created.Valid()}, []any{model, true})
}

func expectError(key, model string, status int, code string) error {
	other := clientOf(key)
	_, err := other.Chat.Completions.New(ctx, ask(model, question))
	var typed *openai.Error
	if !errors.As(err, &typed) {
		return fmt.Errorf("not an error of the SDK: %v", err)
	}
	return expect([]any{typed.StatusCode, typed.Code}, []any{status, code})
}

func error401() error {
	return expectError(os.Getenv("CLIENT_REVOKED_KEY"), model, 401, "invalid_api_key")
}

func error402() error {
	expensive := os.Getenv("CLIENT_EXPENSIVE_MODEL")
	return expectError(os.Getenv("CLIENT_POOR_KEY"), expensive, 402, "insufficient_credits")
}

func error404() error {
	return expectError(os.Getenv("CLIENT_KEY"), unknownModel, 404, "model_not_found")
}

// report runs a check and prints one line of JSON; a panic is a failed check.
func report(name string, check func() error) {
	line := map[string]any{"check": name, "ok": false}
	start := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			line["detail"] = fmt.Sprint("panic: ", cause)
		}
		line["ms"] = time.Since(start).Milliseconds()
		text, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}()
	if err := check(); err != nil {
		line["detail"] = err.Error()
		return
	}
	line["ok"] = true
}

func main() {
	report("chat", chat)
	report("stream", stream)
	report("tool", tool)
	report("list", list)
	report("retrieve", retrieve)
	report("401", error401)
	report("402", error402)
	report("404", error404)
}
