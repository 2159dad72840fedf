/** Plays a schedule of the search with two clients that run, each from its beginning to its end. */
import type { Fields } from '@shardlab/unique'
import type { Command, Documents } from './collections.js'
import { Database } from './database.js'
import { ProgramClient, type Answer, type Setting } from './program.js'
import { textOf, type Step } from './search.js'

/**
 * @returns the documents at the end
 * @throws if a client sends another command than the schedule says
 */
export async function playLive(
  setting: Setting & { readonly documents: readonly Fields[] },
  steps: readonly Step[],
): Promise<Documents> {
  const database = new Database(setting.layout)
  let state = database.stateOf({ main: setting.documents, proxy: [] })
  let epoch = 0
  const waiting: ({ command: Command; answer: (answer: Answer) => void } | null)[] = [null, null]
  const acts = [0, 0]
  const started = (client: number): ProgramClient =>
    new ProgramClient(client, epoch, setting, (command) => {
      return new Promise((answer) => (waiting[client] = { command, answer }))
    })
  const clients = [started(0), started(1)]
  const failures: unknown[] = []
  for (const [i, step] of steps.entries()) {
    if (step.kind === 'expire') epoch++
    else if (step.kind === 'begin') {
      const { client, act } = step
      clients[client]!.perform(act, acts[client]!++, epoch).catch((error: unknown) => failures.push(error))
    } else if (step.kind === 'stop') {
      waiting[step.client] = null
      state = database.stopped(state, step.client)
      clients[step.client] = started(step.client)
    } else {
      const pending = waiting[step.client]
      const text = JSON.stringify(pending?.command ?? null)
      if (pending == null || text !== step.text) throw new Error(`step ${i}, ${textOf(step)}: the client sends ${text}`)
      waiting[step.client] = null
      const effect = database.apply(state, database.commands.of(pending.command))
      if (effect === null) throw new Error(`step ${i}, ${textOf(step)}: the command waits for a transaction`)
      const [next, reply] = effect
      state = next
      pending.answer({ reply: database.replies.values[reply]!, epoch })
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return database.states.values[state]!
}
