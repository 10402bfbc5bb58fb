package changeset

// sightings are the texts that the agent was last shown, by path: what it has
// in mind when it writes a whole file.
type sightings struct {
	texts map[string]string
	order []string // oldest first
	bytes int
}

// What is remembered is bounded: a forgotten text only means that a whole
// write is compared with the file as it is.
const (
	maxSightings     = 200
	maxSightingBytes = 64 << 20
)

func (s *sightings) put(path, text string) {
	s.drop(path)
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	s.texts[path] = text
	s.order = append(s.order, path)
	s.bytes += len(text)
	for len(s.order) > maxSightings || s.bytes > maxSightingBytes && len(s.order) > 1 {
		s.drop(s.order[0])
	}
}

func (s *sightings) get(path string) (string, bool) {
	t, ok := s.texts[path]
	return t, ok
}

func (s *sightings) drop(path string) {
	t, ok := s.texts[path]
	if !ok {
		return
	}
	delete(s.texts, path)
	s.bytes -= len(t)
	for i, p := range s.order {
		if p == path {
			s.order = append(s.order[:i], s.order[i+1:]...)
			break
		}
	}
}
