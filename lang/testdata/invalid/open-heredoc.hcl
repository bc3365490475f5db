# A text of several lines whose last word is not alone on its line.
# want UF1000 @ 4:26 "This text has no line EOF that ends it."
task "h" {
  command = ["sh", "-c", <<-EOF
    echo "${self.id}"
  EOF]
}
