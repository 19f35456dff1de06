// stopgate bridge for Pi: written by `stopgate install pi`, removed by `stopgate uninstall pi`.
//
// Pi has no stop hook. This extension asks stopgate before the agent settles, and sends what
// stopgate says as a follow-up. Without the program, or when it fails, it does nothing.

import { spawn } from "node:child_process";

const PROGRAM = "stopgate";
const STOP_MS_MAX = 600_000;
const OTHER_MS_MAX = 10_000;

type Payload = { hook_event_name: string; session_id: string; cwd: string; [key: string]: unknown };

// Runs the hook with this payload; gives the reason to go on, or null.
function ask(payload: Payload): Promise<string | null> {
  return new Promise((resolve) => {
    const limit = payload.hook_event_name === "Stop" ? STOP_MS_MAX : OTHER_MS_MAX;
    let child: any;
    try {
      child = spawn(PROGRAM, ["hook", "pi"], { cwd: payload.cwd, stdio: ["pipe", "pipe", "ignore"] });
    } catch {
      return resolve(null);
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), limit);
    let output = "";
    child.stdout.on("data", (data: unknown) => (output += data));
    child.on("error", () => {
      clearTimeout(timer);
      resolve(null);
    });
    child.on("close", () => {
      clearTimeout(timer);
      try {
        const answer = JSON.parse(output);
        resolve(answer.decision === "block" && answer.reason ? answer.reason : null);
      } catch {
        resolve(null);
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

function textOf(message: any): string {
  if (typeof message?.content === "string") return message.content;
  const parts = (message?.content ?? []).filter((part: any) => part.type === "text");
  return parts.map((part: any) => part.text).join("\n");
}

export default function (pi: any) {
  let said = "";
  let failed = false;
  let continued = false;

  const payload = (event: string, ctx: any, more: object): Payload | null => {
    const session = ctx?.sessionManager?.getSessionId?.();
    if (!session) return null;
    const transcript = ctx.sessionManager.getSessionFile?.();
    return { hook_event_name: event, session_id: session, cwd: ctx.cwd, transcript_path: transcript, ...more };
  };

  const tell = async (event: string, ctx: any, more: object): Promise<string | null> => {
    try {
      const asked = payload(event, ctx, more);
      return asked ? await ask(asked) : null;
    } catch {
      return null;
    }
  };

  pi.on("session_start", async (_event: any, ctx: any) => {
    await tell("SessionStart", ctx, { source: "startup" });
  });

  pi.on("session_shutdown", async (_event: any, ctx: any) => {
    await tell("SessionEnd", ctx, { reason: "other" });
  });

  pi.on("message_end", async (event: any) => {
    if (event.message?.role !== "assistant") return;
    said = textOf(event.message);
    // An interrupted turn settles, too: the person wanted that.
    failed = ["aborted", "error"].includes(event.message.stopReason);
  });

  pi.on("agent_before_settle", async (_event: any, ctx: any) => {
    if (failed) return;
    const reason = await tell("Stop", ctx, { stop_hook_active: continued, last_assistant_message: said });
    continued = reason !== null;
    if (reason) pi.sendUserMessage(reason, { deliverAs: "followUp" });
  });
}
