/**
 * Some hostile messages on one connection, how they are cut into packets, and what must come back.
 */
import { connect, type Socket } from 'node:net'
import type { Random } from '@shardlab/actor'
import { pickKind } from './kinds/all.js'
import type { Declared, Kind } from './kinds/kind.js'
import { bodySection, msg, ping } from './messages.js'
import { complaint } from './replies.js'
import { answersTo, type Answer } from './wire-rules.js'

const messagesMax = 16

/** The answer to a message of the kind `name`. */
interface Expected {
  readonly name: string
  readonly answer: Answer
  readonly declared: Declared
}

/** The messages of a conversation and the answers that they must get. */
export interface Conversation {
  readonly names: readonly string[]
  readonly stream: Buffer
  /** Where the last message begins. */
  readonly lastStart: number
  readonly answers: readonly Expected[]
  /** `ended`: by the client, in the middle of a message or after the last one. */
  readonly end: 'open' | 'closed' | 'ended'
  readonly http: boolean
}

/**
 * @param first the kind of the first message; undefined: any
 * @throws when the rules contradict what a kind declares: one of them is wrong
 */
export function conversationOf(random: Random, first?: Kind): Conversation {
  const names: string[] = []
  const parts: Buffer[] = []
  const answers: Expected[] = []
  let end: Conversation['end'] = 'open'
  let http = false
  for (let count = 1 + random.below(messagesMax); count > 0 && end === 'open'; count--) {
    const kind = names.length === 0 && first !== undefined ? first : pickKind(random)
    const { bytes, answer: declared } = kind.make(random, names.length + 1)
    names.push(kind.name)
    parts.push(bytes)
    const derived = answersTo(bytes)
    contradiction(kind.name, declared, derived)
    for (const answer of derived.answers) answers.push({ name: kind.name, answer, declared })
    if (derived.end !== 'open') end = derived.end === 'closed' ? 'closed' : 'ended'
    http = derived.http
  }
  if (end === 'open' && random.chance(1, 12)) {
    end = 'ended'
    if (random.chance(1, 2)) {
      const last = msg(0, 0, bodySection(ping()))
      parts.push(last.subarray(0, 1 + random.below(last.length - 1)))
      names.push('a message that is cut off')
    }
  }
  const stream = Buffer.concat(parts)
  return { names, stream, lastStart: stream.length - parts.at(-1)!.length, answers, end, http }
}

function contradiction(name: string, declared: Declared, { answers, end }: ReturnType<typeof answersTo>): void {
  if (declared === 'derived') return
  const [answer] = answers
  const derived =
    end === 'closed'
      ? 'closed'
      : answer === undefined
        ? 'none'
        : answer.reply === 'removed operation'
          ? answer.reply
          : 'code' in answer.reply
            ? answer.reply.code
            : 'command'
  const agree = derived === 'command' ? declared === 'ok' || typeof declared === 'number' : derived === declared
  if (!agree) throw new Error(`${name}: declared ${declared}, but the rules say ${derived}`)
}

/** A connection to the server under test. */
export class HostileClient {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #closed = false
  #wake: (() => void) | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
      this.#wake?.()
    })
    socket.on('error', () => {})
    const over = (): void => {
      this.#closed = true
      this.#wake?.()
    }
    socket.on('end', over)
    socket.on('close', over)
  }

  static connect(endpoint: string): Promise<HostileClient> {
    const [host, port] = endpoint.split(':') as [string, string]
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), noDelay: true, allowHalfOpen: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new HostileClient(socket)))
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /**
   * Has the conversation.
   * @returns what was wrong with the answers; null: nothing
   */
  async have(conversation: Conversation, random: Random): Promise<string | null> {
    const { stream, lastStart, answers, end, http } = conversation
    const fence = msg(fenceId, 0, bodySection(ping()))
    // A write to a connection that the server has closed would discard the answers before.
    const lastCut = end === 'closed' ? lastStart + 3 : stream.length
    await this.#send(end === 'open' ? Buffer.concat([stream, fence]) : stream, lastCut, random)
    if (end === 'ended') this.#socket.end()
    for (const [index, { name, answer, declared }] of answers.entries()) {
      const frame = await this.#frame()
      if (frame === null) return `${name}: no reply, but the connection was closed`
      const interruptible = end === 'ended' && index === answers.length - 1
      const wrong = complaint(frame, answer, declared, interruptible)
      if (wrong !== null) return `${name}: ${wrong}`
    }
    if (end === 'open') {
      const frame = await this.#frame()
      if (frame === null) return 'the connection was closed'
      return frame.readInt32LE(8) === fenceId ? null : `one more reply: ${frame.toString('latin1')}`
    }
    if (http) {
      while (!this.#closed) await this.#more()
      return /^HTTP\/1.0 200 OK\r\n/.test(this.#received.toString('latin1')) ? null : 'no reply of HTTP'
    }
    const further = await this.#frame()
    return further === null ? null : `one more reply: ${further.toString('latin1')}`
  }

  /** In one piece, in some pieces, or byte by byte; what follows the last cut, in one piece. */
  async #send(stream: Buffer, lastCut: number, random: Random): Promise<void> {
    const pieces = random.chance(3, 4)
      ? 1
      : random.chance(1, 8) && stream.length < 200
        ? stream.length
        : 2 + random.below(5)
    const cuts = Array.from({ length: pieces - 1 }, (_, i) =>
      pieces === stream.length ? i + 1 : random.below(stream.length + 1),
    ).sort((a, b) => a - b)
    let at = 0
    for (const cut of [...cuts, stream.length]) {
      if (cut === at || (cut > lastCut && cut < stream.length)) continue
      this.#socket.write(stream.subarray(at, cut))
      at = cut
      // The next piece is another packet.
      if (cut < stream.length) await new Promise(setImmediate)
    }
  }

  /** The next message of the server; null: the connection was closed. */
  async #frame(): Promise<Buffer | null> {
    for (;;) {
      const received = this.#received
      if (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const length = received.readInt32LE(0)
        this.#received = received.subarray(length)
        return received.subarray(0, length)
      }
      if (this.#closed) return received.length === 0 ? null : received
      await this.#more()
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null
        resolve()
      }
    })
  }
}

const fenceId = 2 ** 30
