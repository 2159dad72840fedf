/** One open page: a reader of the live stream, and commands of the page. */
import type { WebSocket } from 'ws'
import type { Batch } from '../stream/readers.js'
import type { FromPage, ToPage } from './messages.js'
import { pageVerbs, type DashboardTarget } from './target.js'

/** A longer wait would keep a reader of a page that has gone. */
const waitMs = 5000

/** Resolves when the page has gone. */
export async function servePage(socket: WebSocket, target: DashboardTarget): Promise<void> {
  const send = (message: ToPage): Promise<void> =>
    new Promise((resolve) => socket.send(JSON.stringify(message), () => resolve()))
  socket.on('message', (data: Buffer) => void answer(data.toString(), target, send))
  // Without a listener, an error would end the process; the connection closes after it.
  socket.on('error', () => {})
  await send({ faultForms: target.faultForms })
  try {
    const first = await target.open()
    const close = (): Promise<void> => target.close(first.reader).catch(() => {})
    // Ends the wait for the next deltas.
    socket.once('close', () => void close())
    try {
      await forward(first)
    } finally {
      // The page may have gone before there was a reader.
      await close()
    }
  } catch (error) {
    if (socket.readyState === socket.OPEN) await send({ lost: (error as Error).message })
    socket.close()
  }

  async function forward(first: Batch): Promise<void> {
    const { reader } = first
    let after = 0
    for (let batch = first; socket.readyState === socket.OPEN;) {
      // The next ones are asked for when these are on their way: a slow page slows its own queue.
      if (batch.deltas.length > 0) await send({ deltas: batch.deltas })
      after = batch.deltas.at(-1)?.number ?? after
      batch = await target.next(reader, after, waitMs)
    }
  }
}

async function answer(text: string, target: DashboardTarget, send: (message: ToPage) => Promise<void>): Promise<void> {
  const request = requestIn(text)
  if (request === null) return
  const { id, verb, fields } = request
  try {
    await send({ id, reply: await target.control(verb, fields) })
  } catch (error) {
    await send({ id, error: (error as Error).message })
  }
}

/** null: the message is not from a page of this version. */
function requestIn(text: string): FromPage | null {
  try {
    const { id, verb, fields } = JSON.parse(text) as Partial<FromPage>
    const isRequest = typeof id === 'number' && typeof fields === 'object' && fields !== null
    return isRequest && pageVerbs.includes(verb!) ? { id, verb: verb!, fields } : null
  } catch {
    return null
  }
}
