# ufbuild:ignore UF2302: kept for the next audit
locals { x = 1 }
# ufbuild:ignore UF2302; so is this
locals { y = 1 }
task "t" { command = ["true"] }
# ufbuild:ignore
# want UF9201 @ 6:3 "This comment names no code, so it silences nothing."
