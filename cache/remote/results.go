package remote

import (
	"context"
	"fmt"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
)

// GetActionResult returns what the action cache has for an action; ErrNotFound when it has nothing. Files that the caller
// wants at once may be named in inline; a server may send their bytes along or not.
func (c *Client) GetActionResult(ctx context.Context, action Digest, inline ...string) (*repb.ActionResult, error) {
	r, err := c.ac.GetActionResult(ctx, &repb.GetActionResultRequest{
		InstanceName: c.endpoint.instance, ActionDigest: action.Proto(), DigestFunction: c.function.Proto(), InlineOutputFiles: inline,
	})
	if err != nil {
		return nil, fmt.Errorf("ask the action cache for %s: %w", action, tell(err))
	}
	return r, nil
}

// UpdateActionResult writes the result of an action to the action cache. Its blobs have to be there already.
func (c *Client) UpdateActionResult(ctx context.Context, action Digest, r *repb.ActionResult) error {
	_, err := c.ac.UpdateActionResult(ctx, &repb.UpdateActionResultRequest{
		InstanceName: c.endpoint.instance, ActionDigest: action.Proto(), ActionResult: r, DigestFunction: c.function.Proto(),
	})
	if err != nil {
		return fmt.Errorf("write to the action cache: %w%s", tell(err), writeHint(err))
	}
	return nil
}

// writeHint says what to do about a server that lets nobody write, which many do on purpose.
func writeHint(err error) string {
	switch codeOf(err) {
	case codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return "\nhint: the server lets this user write no results; use --remote-mode=read, or give it a credential with --remote-header"
	}
	return ""
}
