package main

import (
	"context"

	"github.com/deed-dev/deed/internal/shop"
)

type demoServerCmd struct{}

func (c *demoServerCmd) Run(ctx context.Context, w *world) error {
	return shop.Serve(ctx, buildVersion().Version, w.stdin, w.stdout)
}
