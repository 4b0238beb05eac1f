package edit_test

import (
	"fmt"

	"gemline/tools/edit"
)

// What a model quotes is found though its indentation is not that of the text, and
// what it is replaced by is indented as the text is.
func Example() {
	old := "func area(r rect) int {\n\tif r.empty() {\n\t\treturn 0\n\t}\n\treturn r.w + r.h\n}\n"
	r, err := edit.Replace(old, "return r.w + r.h", "return r.w * r.h", false)
	fmt.Println(r.Count, r.Strategy, r.Lines, err)
	r, err = edit.Replace(r.Text, "if r.empty() {\n\treturn 0\n}", "if r.w < 0 {\n\treturn -1\n}", false)
	fmt.Println(r.Count, r.Strategy, r.Lines, err)
	diff, stat := edit.Diff("a/rect.go", "b/rect.go", old, r.Text)
	fmt.Print(stat, "\n", diff)
	// Output:
	// 1 exact [{5 5}] <nil>
	// 1 flexible [{2 4}] <nil>
	// +3 -3
	// --- a/rect.go
	// +++ b/rect.go
	// @@ -1,6 +1,6 @@
	//  func area(r rect) int {
	// -	if r.empty() {
	// -		return 0
	// +	if r.w < 0 {
	// +		return -1
	//  	}
	// -	return r.w + r.h
	// +	return r.w * r.h
	//  }
}
