// Farebox with the official OpenAI SDK: only the address and the key are others.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// svc is what Farebox adds to an answer.
type svc struct {
	RequestID string  `json:"request_id"`
	CostUSD   float64 `json:"cost_usd"`
}

func main() {
	err := run(context.Background())
	var refusal *openai.Error
	if errors.As(err, &refusal) {
		err = fmt.Errorf("refused: %d %s: %s", refusal.StatusCode, refusal.Code, refusal.Message)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client := openai.NewClient(
		option.WithBaseURL(os.Getenv("FAREBOX_URL")),
		option.WithAPIKey(os.Getenv("FAREBOX_KEY")),
	)
	params := openai.ChatCompletionNewParams{
		Model:    "farebox-guide",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is a hold?")},
	}
	if model := os.Getenv("FAREBOX_MODEL"); model != "" {
		params.Model = model
	}

	models := client.Models.ListAutoPaging(ctx)
	for models.Next() {
		fmt.Println("model:", models.Current().ID)
	}
	if err := models.Err(); err != nil {
		return err
	}

	reply, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	cost, err := svcOf(reply.RawJSON())
	if err != nil {
		return err
	}
	fmt.Println("answer:", reply.Choices[0].Message.Content)
	fmt.Println("cost:", cost.CostUSD, "USD, request", cost.RequestID)

	fmt.Print("stream: ")
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	for stream.Next() {
		chunk := stream.Current()
		if len(chunk.Choices) > 0 {
			fmt.Print(chunk.Choices[0].Delta.Content)
		}
		if cost, err = svcOf(chunk.RawJSON()); err != nil {
			return err
		}
	}
	// The last chunk has the cost.
	fmt.Println("\ncost:", cost.CostUSD, "USD")
	return stream.Err()
}

func svcOf(raw string) (svc, error) {
	var body struct{ Svc svc }
	err := json.Unmarshal([]byte(raw), &body)
	return body.Svc, err
}
