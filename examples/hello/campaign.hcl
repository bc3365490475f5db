task "greet" {
  command = ["sh", "-c", "tr a-z A-Z < name.txt > greeting.txt"]
  input "name" { glob = ["name.txt"] }
  output "greeting" { path = "greeting.txt" }
}
