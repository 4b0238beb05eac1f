//go:build unix

package programtest

// decide answers a question about the folder.
func (c *Client) Decide(r Record, decision string) {
	c.t.Helper()
	c.Send(Record{"type": "consent", "id": r["id"], "decision": decision})
}
