package remote

import (
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
)

// TestAnswersToABatch: whatever a server says of a batch, only what it says it has is not sent again.
func TestAnswersToABatch(t *testing.T) {
	blobs := make([]Blob, 3)
	for i := range blobs {
		blobs[i] = Encoder{SHA256}.Bytes([]byte{byte(i)})
	}
	says := func(i int, code codes.Code) *repb.BatchUpdateBlobsResponse_Response {
		return &repb.BatchUpdateBlobsResponse_Response{Digest: blobs[i].Digest.Proto(), Status: &status.Status{Code: int32(code)}}
	}
	unnamed := func(code codes.Code) *repb.BatchUpdateBlobsResponse_Response {
		return &repb.BatchUpdateBlobsResponse_Response{Status: &status.Status{Code: int32(code)}}
	}
	stranger := &repb.BatchUpdateBlobsResponse_Response{Digest: SHA256.Of([]byte("stranger")).Proto()}
	for name, test := range map[string]struct {
		answers []*repb.BatchUpdateBlobsResponse_Response
		left    []int
		fails   string
	}{
		"in order":           {[]*repb.BatchUpdateBlobsResponse_Response{says(0, 0), says(1, 0), says(2, 0)}, nil, ""},
		"in another order":   {[]*repb.BatchUpdateBlobsResponse_Response{says(2, 0), says(0, 0), says(1, 0)}, nil, ""},
		"one is not taken":   {[]*repb.BatchUpdateBlobsResponse_Response{says(2, 0), says(0, codes.Unavailable), says(1, 0)}, []int{0}, "Unavailable"},
		"one is left out":    {[]*repb.BatchUpdateBlobsResponse_Response{says(0, 0), says(2, 0)}, []int{1}, "says nothing of 1 of them"},
		"one of each":        {[]*repb.BatchUpdateBlobsResponse_Response{says(2, codes.ResourceExhausted), says(0, 0)}, []int{1, 2}, "ResourceExhausted"},
		"without names":      {[]*repb.BatchUpdateBlobsResponse_Response{unnamed(0), unnamed(codes.Unavailable), unnamed(0)}, []int{1}, "Unavailable"},
		"fewer, not named":   {[]*repb.BatchUpdateBlobsResponse_Response{unnamed(0), unnamed(0)}, []int{0, 1, 2}, "digest"},
		"of something else":  {[]*repb.BatchUpdateBlobsResponse_Response{says(0, 0), says(1, 0), stranger}, []int{0, 1, 2}, "not sent"},
		"the same twice":     {[]*repb.BatchUpdateBlobsResponse_Response{says(0, 0), says(0, 0), says(2, 0)}, []int{1}, "says nothing of 1 of them"},
		"more than was sent": {[]*repb.BatchUpdateBlobsResponse_Response{says(0, 0), says(1, 0), says(2, 0), stranger}, []int{0, 1, 2}, "not sent"},
	} {
		left, err := notTaken(blobs, &repb.BatchUpdateBlobsResponse{Responses: test.answers})
		var want []Blob
		for _, i := range test.left {
			want = append(want, blobs[i])
		}
		require.Equal(t, want, left, name)
		if test.fails == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, test.fails, name)
		}
	}
}
