package lang

// Locate returns the root of the campaign that o names and the names of its campaign files, sorted,
// without reading them. No files mean that there is no campaign.
func Locate(o Options) (root string, files []string, err error) { return locate(o) }
