# Plays an agent. In the first build ($SEEN/first) it takes its time, for the second to expect as much and to begin with
# what took longest; in the second two hunts end soon, the next three go on until somebody has looked ($SEEN/over).
prompt=$(cat)
spend() { echo "{\"cost_usd\": $1, \"input_tokens\": $2, \"output_tokens\": $3}" > "$UF_USAGE"; }
spend 0.31 24100 620
echo "# Notes" > notes.md
echo "reading src/Vault.sol"
[ -e "$SEEN/first" ] && case "$prompt" in
*"for access"* | *"for denial"*) sleep 15 ;;
*"for signature"*) sleep 3 ;;
*"Look for"*) sleep 10 ;;
esac
case "$prompt" in
*"Look for access"*) echo "3 roles, each with a guard" ;;
*"Look for denial"*) echo "no loop without a bound"; sleep 1 ;;
*"Look for oracle"*) lines="price() trusts one pair|following the price into borrow()|writing a test that moves the price" ;;
*"Look for reentrancy"*) lines="withdraw() calls out before it writes|following the balance through deposit()|writing a test that calls back" ;;
*"Look for rounding"*) lines="shares are rounded up on the way out|following previewWithdraw()|writing a test with one wei" ;;
esac
[ -n "$lines" ] && [ ! -e "$SEEN/first" ] || exit 0
IFS='|'
for line in $lines; do sleep 1; spend 0.58 51200 1840; echo "$line"; done
while [ ! -e "$SEEN/over" ]; do sleep 0.2; done
