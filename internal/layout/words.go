package layout

import (
	"fmt"
	"slices"
	"strings"
)

// Words is the set of words in a rep tag. The empty set is a plain replicated field.
type Words uint16

// The words of B-011. Their values are part of the layout hash and of an announcement: never renumber them.
const (
	Owner     Words = 1 << iota // delivered to the owning session only
	Manual                      // leaves after MarkDirty only
	Heartbeat                   // rides the keyframe
	Init                        // sent with the spawn, never after
	Position                    // where the entity is
	Auth                        // written by the authority plane
	Persist                     // with Auth: survives a restart
)

// Motion marks the slot of the continuous channel. No tag says it: the class does.
const Motion Words = 1 << 8

// Wire holds the words that both ends must agree on. Manual concerns the driver alone and Persist the authority alone,
// so two builds that differ only in those may meet (B-028).
const Wire = Owner | Heartbeat | Init | Position | Auth | Motion

var wordNames = []string{"owner", "manual", "heartbeat", "init", "position", "auth", "persist"}

// Has reports whether all words of o are in w.
func (w Words) Has(o Words) bool { return w&o == o }

// Any reports whether a word of o is in w.
func (w Words) Any(o Words) bool { return w&o != 0 }

// String writes the words as they stand in a tag.
func (w Words) String() string {
	var names []string
	for i, n := range wordNames {
		if w.Has(1 << i) {
			names = append(names, n)
		}
	}
	if w.Has(Motion) {
		names = append(names, "motion")
		w &^= Motion
	}
	if rest := w >> len(wordNames); rest != 0 {
		names = append(names, fmt.Sprintf("%#x", uint16(rest<<len(wordNames))))
	}
	return strings.Join(names, ",")
}

// exclusions are the pairs that contradict each other, the word to blame first.
var exclusions = []struct {
	word, other Words
	remedy      string
}{
	{Init, Manual, "an init field leaves once, with the spawn: drop init if it changes later, else drop manual"},
	{Init, Heartbeat, "an init field leaves once, with the spawn: drop init if it must be repeated, else drop heartbeat"},
	{Init, Position, "a position moves after the spawn: drop init"},
	{Init, Persist, "an init field is not kept: use `auth,persist`, or `init,auth` for a value exposed at spawn"},
	{Position, Owner, "everyone in reach must know where the entity is: drop owner, or keep a second, owner-only field"},
	{Position, Manual, "the relay places the entity by it: drop manual"},
	{Auth, Manual, "the authority sends what it changes: drop manual"},
	{Auth, Heartbeat, "the relay repeats authority fields until they are acknowledged: drop heartbeat"},
}

// WordFault is one thing wrong with a tag.
type WordFault struct {
	Word    string
	Problem string
	Remedy  string
}

// ParseWords reads the value of a rep tag and returns all that is wrong with it. Words that are wrong in themselves are
// not in the result; words that only contradict each other are.
func ParseWords(tag string) (w Words, faults []WordFault) {
	if tag == "" {
		return 0, nil
	}
	for word := range strings.SplitSeq(tag, ",") {
		i := slices.Index(wordNames, word)
		switch name, _, valued := strings.Cut(word, "="); {
		case i >= 0 && w.Has(1<<i):
			faults = append(faults, WordFault{word, "stands twice", "write it once"})
		case i >= 0:
			w |= 1 << i
		case valued && slices.Contains(wordNames, strings.TrimSpace(name)):
			faults = append(faults, WordFault{word, "has a value, and words take none",
				fmt.Sprintf("write %s to turn it on, or leave it out", strings.TrimSpace(name))})
		case slices.Contains(wordNames, strings.TrimSpace(word)):
			faults = append(faults, WordFault{word, "has spaces around it", "write " + strings.TrimSpace(word)})
		case word == "":
			faults = append(faults, WordFault{word, "is empty", "remove the extra comma"})
		case word == "-":
			faults = append(faults, WordFault{word, "is no word", "remove the tag: fields without one are not replicated"})
		default:
			faults = append(faults, WordFault{word, "is no word", "the words are " + strings.Join(wordNames, ", ")})
		}
	}
	for _, e := range exclusions {
		if w.Has(e.word | e.other) {
			faults = append(faults, WordFault{e.word.String(), "cannot stand with " + e.other.String(), e.remedy})
		}
	}
	if w.Has(Persist) && !w.Has(Auth) && !w.Has(Init) {
		faults = append(faults, WordFault{"persist", "stands without auth",
			"write `auth,persist`: only the authority plane keeps values"})
	}
	return w, faults
}
