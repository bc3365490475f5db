task "greet" {
  command = ["sh", "-c", "tr a-z A-Z < name.txt > greeting.txt"]
  output "greeting" { path = "greeting.txt" }
}
