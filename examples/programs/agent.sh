#!/bin/sh
# A small agent whose memory, outputs and long conversation herma keeps, in a shell: nc
# and jq, JSON-RPC lines on the Unix socket.
#
#     herma daemon start && sh examples/programs/agent.sh
#
# A real agent asks a model where `answer` stands and runs tools where `tool` stands.
set -eu

session=example-shell
turns=12
home="${HERMA_HOME:-${HERMES_HOME:-$HOME/.hermes}}"
socket="${HERMA_SOCKET:-$home/herma/hermad.sock}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Asks the daemon: a method, and its params on standard input; prints the result.
herma() {
    jq -c --arg method "$1" '{jsonrpc: "2.0", id: 1, $method, params: .}' | nc -N -U "$socket" > "$work/answer"
    if jq -e .error "$work/answer" > "$work/error"; then
        jq -r '"herma: " + .message' "$work/error" >&2
        exit 1
    fi
    jq -c .result "$work/answer"
}

# A tool with a long result.
tool() { seq -f "minute $1: INFO request %g took 96 ms" 1 400; }

# What a model would say.
answer() { echo "Turn $1: the slowest request took 96 ms, nothing else stands out. Shall I go on?"; }

# The snapshot is the same at every call of the session, so that prompt caches hold.
jq -n --arg session "$session" '{$session, agent: "example", context_length: 9000}' | herma session.open |
    jq -c '[{role: "system", content: (["You watch a server.", .snapshot.memory, .snapshot.user] | map(select(.)) | join("\n\n"))}]' > "$work/messages"

spilled=0 compressions=0 turn=0
while [ "$turn" -lt "$turns" ]; do
    turn=$((turn + 1))
    tool "$turn" | jq -Rs --arg session "$session" --arg id "call_$turn" \
        '{$session, tool: "read_log", $id, content: ., threshold: 2000}' | herma output.admit > "$work/kept"
    if jq -e .spilled "$work/kept" > /dev/null; then spilled=$((spilled + 1)); fi
    jq -c --slurpfile kept "$work/kept" --arg turn "$turn" --arg answer "$(answer "$turn")" '. + [
        {role: "user", content: ("Look at minute " + $turn + ". Never restart anything by yourself.")},
        {role: "assistant", content: null, tool_calls: [
            {id: ("call_" + $turn), type: "function", function: {name: "read_log", arguments: "{}"}}]},
        {role: "tool", tool_call_id: ("call_" + $turn), content: $kept[0].content},
        {role: "assistant", content: $answer}]' "$work/messages" > "$work/next"
    mv "$work/next" "$work/messages"
    jq -c --arg session "$session" '{$session, messages: .}' "$work/messages" > "$work/params"
    if herma context.check < "$work/params" | jq -e .compress > /dev/null; then
        herma context.compress < "$work/params" > "$work/done"
        jq -c .messages "$work/done" > "$work/messages"
        if jq -e .report.compressed "$work/done" > /dev/null; then compressions=$((compressions + 1)); fi
    fi
done

jq -n '{target: "memory", content: "The slowest request takes about 96 ms."}' | herma memory.add > /dev/null
hits="$(jq -n --arg session "$session" '{query: "slowest request", $session, limit: 3}' | herma recall.search | jq '.hits | length')"
echo "$turns turns, $spilled outputs spilled, $compressions compressions, $(jq length "$work/messages") messages left"
echo "$hits hits for what was compressed away"
jq -e 'any(.[]; .content | tostring | contains("Never restart anything"))' "$work/messages" > /dev/null
