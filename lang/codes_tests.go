package lang

// testCodeDocs are the pages of codes that tests of a campaign report.
var testCodeDocs = []CodeDoc{
	{
		Code: "UF9301", Title: "Assertion does not hold", Where: "cmd",
		Explanation: `
The condition of an assert block is false: with these made-up results the campaign comes to something else. Either the
campaign changed and the test is right, or the other way round.`,
		Command: "ufbuild check && ufbuild test",
		Bad: testExample + `
-- campaign.test.hcl --
test "the list is read" {
  mock "list" {
    output "names" { content = "a b" }
  }
  assert {
    condition     = command("greet") == ["echo", "a, b"]
    error_message = "greet is not told the names"
  }
}
`, Good: testExample + `
-- campaign.test.hcl --
test "the list is read" {
  mock "list" {
    output "names" { content = "a b" }
  }
  assert {
    condition     = command("greet") == ["echo", "a b"]
    error_message = "greet is not told the names"
  }
}
`},
	{
		Code: "UF9302", Title: "Mock of what is not there", Where: "cmd",
		Explanation: `
A mock stands for an instance, or for every instance of a task, and says what its declared outputs hold. This one names
something that the campaign does not declare, or does not say what the output holds.`,
		Command: "ufbuild check && ufbuild test",
		Bad: testExample + `
-- campaign.test.hcl --
test "the list is read" {
  mock "lists" {
    output "names" { content = "a b" }
  }
  assert {
    condition     = command("greet")[1] == "a b"
    error_message = "greet is not told the names"
  }
}
`, Good: testExample + `
-- campaign.test.hcl --
test "the list is read" {
  mock "list" {
    output "names" { content = "a b" }
  }
  assert {
    condition     = command("greet")[1] == "a b"
    error_message = "greet is not told the names"
  }
}
`},
	{
		Code: "UF9303", Title: "Test that cannot be evaluated", Where: "cmd",
		Explanation: `
An expression of a test has no value. Conditions may use var, local, every function of the language, and these, which
take the name of a task or instance: prompt and command are what it would be given, env its environment variables,
status is ok, failed or skipped, and instances lists the instances of a task.`,
		Command: "ufbuild check && ufbuild test",
		Bad: testExample + `
-- campaign.test.hcl --
test "the list is read" {
  mock "list" {
    output "names" { content = "a b" }
  }
  assert {
    condition     = prompt("greet") == "a b"
    error_message = "greet is not told the names"
  }
}
`, Good: testExample + `
-- campaign.test.hcl --
test "a failed list skips its reader" {
  mock "list" { status = "failed" }
  assert {
    condition     = status("greet") == "skipped"
    error_message = "greet runs without a list"
  }
}
`},
}

const testExample = `
task "list" {
  command = ["sh", "-c", "ls > names.txt"]
  output "names" { path = "names.txt" }
}

task "greet" {
  command = ["echo", task.list.outputs.names.text]
}
`

// bugCodeDocs is the page of the code that is never the user's fault.
var bugCodeDocs = []CodeDoc{
	{
		Code: "UF9901", Title: "A bug in ufbuild", Where: "bug",
		Explanation: `
ufbuild itself failed while it looked at this text. That is never your fault: please report it, with the text.
Other problems of the campaign are reported all the same.`},
}
