// stopgate bridge for OpenCode: written by `stopgate install opencode`, removed by `stopgate uninstall opencode`.
//
// OpenCode has no stop hook. This plugin asks stopgate when a session comes to rest, and sends what
// stopgate says as the next prompt. Without the program, or when it fails, it does nothing.

import { spawn } from "node:child_process"

const PROGRAM = "stopgate"
const STOP_MS_MAX = 600_000
const OTHER_MS_MAX = 10_000
// `opencode run` ends with the first rest, so there the question is asked while the session is busy.
const IS_HEADLESS = process.argv.slice(1, 4).includes("run")

// Runs the hook with this payload; gives the reason to go on, or null.
function ask(payload) {
  return new Promise((resolve) => {
    const limit = payload.hook_event_name === "Stop" ? STOP_MS_MAX : OTHER_MS_MAX
    let child
    try {
      child = spawn(PROGRAM, ["hook", "opencode"], {
        cwd: payload.cwd,
        env: { ...process.env, OPENCODE: "1" },
        stdio: ["pipe", "pipe", "ignore"],
      })
    } catch {
      return resolve(null)
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), limit)
    let output = ""
    child.stdout.on("data", (data) => (output += data))
    child.on("error", () => {
      clearTimeout(timer)
      resolve(null)
    })
    child.on("close", () => {
      clearTimeout(timer)
      try {
        const answer = JSON.parse(output)
        resolve(answer.decision === "block" && answer.reason ? answer.reason : null)
      } catch {
        resolve(null)
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

function textOf(parts) {
  return (parts ?? []).filter((part) => part.type === "text" && part.text).map((part) => part.text).join("\n")
}

export const Stopgate = async ({ client, directory }) => {
  const continued = new Set()
  const asking = new Set()

  const payload = (event, session, more) => ({
    hook_event_name: event,
    session_id: session,
    cwd: directory,
    ...more,
  })

  // A subagent's rest is not the person's business; a session that can't be read is left alone.
  const isMain = async (session) => {
    const found = await client.session.get({ path: { id: session } })
    return Boolean(found.data) && !found.data.parentID
  }

  const stop = async (session, message) => {
    if (asking.has(session)) return
    asking.add(session)
    try {
      const reason = await ask(
        payload("Stop", session, {
          stop_hook_active: continued.has(session),
          last_assistant_message: message,
        }),
      )
      if (!reason) {
        continued.delete(session)
        return
      }
      continued.add(session)
      const path = { id: session }
      const parts = [{ type: "text", text: reason }]
      // A session that is busy goes on with a message that is there before it comes to rest: only
      // `prompt` returns when it is.
      if (IS_HEADLESS) await client.session.prompt({ path, body: { parts, noReply: true } })
      else await client.session.promptAsync({ path, body: { parts } })
    } finally {
      asking.delete(session)
    }
  }

  // A text next to a tool call is not the end of a turn.
  const callsTool = async (session, messageID) => {
    const found = await client.session.message({ path: { id: session, messageID } })
    return (found.data?.parts ?? []).some((part) => part.type === "tool")
  }

  // A headless text is complete: is that a stop?
  const said = async ({ sessionID, messageID }, text) => {
    if (!(await isMain(sessionID)) || (await callsTool(sessionID, messageID))) return
    await stop(sessionID, text)
  }

  const rested = async (session) => {
    if (!(await isMain(session))) return
    const messages = (await client.session.messages({ path: { id: session } })).data ?? []
    const last = messages.findLast((message) => message.info.role === "assistant")
    // An interrupted turn comes to rest, too: the person wanted that.
    if (!last || last.info.error) return
    await stop(session, textOf(last.parts))
  }

  return {
    event: async ({ event }) => {
      try {
        const properties = event.properties ?? {}
        if (event.type === "session.created" && !properties.info?.parentID) {
          await ask(payload("SessionStart", properties.info?.id, { source: "startup" }))
        } else if (event.type === "session.deleted" && !properties.info?.parentID) {
          await ask(payload("SessionEnd", properties.info?.id, { reason: "deleted" }))
        } else if (event.type === "session.idle" && !IS_HEADLESS) {
          await rested(properties.sessionID)
        }
      } catch {
        // Whatever goes wrong, the session rests.
      }
    },
    "chat.message": async (input, output) => {
      try {
        await ask(payload("UserPromptSubmit", input.sessionID, { prompt: textOf(output.parts) }))
      } catch {
        // The prompt is the person's: it goes on in any case.
      }
    },
    "experimental.text.complete": async (input, output) => {
      try {
        if (IS_HEADLESS) await said(input, output.text)
      } catch {
        // Whatever goes wrong, the session rests.
      }
    },
  }
}
